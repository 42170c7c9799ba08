"""What is sent to the servers: wrk for speed, pipelined connections for filling and counting."""

import itertools
import json
import os
import random
import re
import resource
import socket
import subprocess
import time

from server import TICK, Failed, on_core, read_answer

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrk")
PROFILE = "/v1/sessions/current/services/profile"


def request(method, path, token=None, body=None, extra="", kind="application/merge-patch+json"):
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{extra}"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    if body is None:
        if method == "POST":
            head += "Content-Length: 0\r\n"
        return (head + "\r\n").encode()
    head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n{body}".encode()


def core_time(cores):
    """Seconds that these cores have been busy so far, whoever made them so, the hypervisor's other guests included."""
    total = 0
    with open("/proc/stat") as stat:
        for line in stat:
            name, *fields = line.split()
            if name in {f"cpu{core}" for core in cores}:
                user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
                total += user + nice + system + irq + softirq + steal
    return total / TICK


def kernel_times():
    """Seconds that each of the kernel's own threads has used so far, and the core that it was last on."""
    times = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        if fields[1] == "2":
            times[process] = (int(fields[11]) + int(fields[12])) / TICK, int(fields[36])
    return times


def kernel_work(before, cores):
    """What they have used of these cores since then: what they do for a disk is nobody else's use of a core."""
    return sum(time - before.get(thread, (time,))[0]
               for thread, (time, core) in kernel_times().items() if core in cores)


def own_time(server):
    """Seconds used so far by this driver, its finished children (wrk) and the server."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return server.cpu() + sum(usage.ru_utime + usage.ru_stime for usage in used)


def wrk_command(server, script, connections, seconds):
    """The words that start wrk with one of the scripts, and the environment that it needs for that."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "5s",
               "-s", os.path.join(SCRIPTS, script + ".lua"), server.url]
    return command, {**os.environ, "BENCH_SCRIPTS": SCRIPTS}


def wrk(server, script, connections, seconds, core, **environment):
    """One run of wrk with one of the scripts: see `measured`."""
    command, inherited = wrk_command(server, script, connections, seconds)
    return measured(server, command, seconds, core, {**inherited, **environment})


def plain(server, program, message, status, connections, seconds, core, tokens=None, rate=None, requests=None):
    """One run of load.c, which sends `message` again and again, with marks replaced (a `*` by the next of a file of
    tokens), no more than `rate` in a second and no more than `requests` in all: see `measured`."""
    options = [word for option, value in (("-t", tokens), ("-r", rate), ("-n", requests)) if value is not None
               for word in (option, str(value))]
    command = [program, *options, str(server.port), str(connections), str(seconds), str(status)]
    return measured(server, command, seconds, core, {}, message)


def measured(server, command, seconds, core, environment, message=None):
    """One run of a load: what it says in its line RESULT, the server's processor time a request, how busy it was, and
    how much of the two cores went to others meanwhile (`foreign`, in cores), the kernel's own threads apart."""
    cores = (server.core, core)
    before, own, busy, kernel = server.cpu(), own_time(server), core_time(cores), kernel_times()
    started = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=on_core(core),
        env={**os.environ, **environment})
    try:
        output = process.communicate(message, timeout=seconds + 30)[0].decode()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    elapsed = time.monotonic() - started  # more than the load says: a script may take a while to get ready
    used = server.cpu() - before
    foreign = core_time(cores) - busy - (own_time(server) - own) - kernel_work(kernel, cores)
    server.trim_log()
    if not (line := re.search(r"^RESULT (.*)$", output, re.M)):
        raise Failed(f"{command[0]} said: {output.strip()[-300:]}")
    result = json.loads(line.group(1))
    if result["requests"] == 0:
        raise Failed(f"no request was answered: {' '.join(command)}")
    if result["failed"] > result["requests"] / 1000:
        raise Failed(f"{result['failed']} of {result['requests']} requests failed")
    result["rate"] = result["requests"] / (result["duration"] / 1e6)
    result["cpu"] = used / result["requests"] * 1e6  # microseconds a request
    result["busy"] = used / (result["duration"] / 1e6)
    result["foreign"] = max(foreign, 0) / elapsed
    return result


class Pipeline:
    """A connection on which many requests are under way at once."""

    head = re.compile(rb"HTTP/1\.1 (\d\d\d) [^\r]*\r\n(?:[^\r]+\r\n)*?"
                      rb"[Cc]ontent-[Ll]ength: *(\d+)\r\n(?:[^\r]+\r\n)*\r\n")

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = bytearray()

    def send(self, requests):
        self.socket.sendall(b"".join(requests))

    def answers(self, count, status):
        """The bodies of so many answers, which all have that status."""
        bodies, position = [], 0
        while len(bodies) < count:
            head = self.head.match(self.data, position)
            end = head.end() + int(head.group(2)) if head else 0
            if head is None or len(self.data) < end:
                if not (more := self.socket.recv(262144)):
                    raise Failed("the server closed a connection with requests under way")
                self.data += more
                continue
            if int(head.group(1)) != status:
                raise Failed(f"{head.group(1).decode()} instead of {status}: {bytes(self.data[head.end():end])[:200]}")
            bodies.append(bytes(self.data[head.end() : end]))
            position = end
        del self.data[:position]
        return bodies

    def close(self):
        self.socket.close()


def write_profile(token, number):
    return request("PATCH", PROFILE, token, f'{{"name":"Ada Lovelace {number}"}}')


WRITTEN = ((write_profile, 200),)


def fill(server, start, end, seconds, steps=WRITTEN):
    """Makes sessions `start` to `end`, each with a profile of its own text; their tokens.

    `steps` are what is done to each: functions of token and number that give a request, and the status it is answered
    with. The connections take turns, so that the server works while one of them is read here, and are many, because a
    durable server answers the requests of one connection one sync after the other. Gives up after `seconds`.
    """
    depth, deadline, numbers, tokens = 25, time.monotonic() + seconds, iter(range(start, end)), []
    token = re.compile(rb'"token" *: *"([^"]+)"')
    create = request("POST", "/v1/sessions")
    connections = [Pipeline(server) for _ in range(64)]
    pending = []

    def begin(connection):
        if batch := list(itertools.islice(numbers, depth)):
            connection.send([create] * len(batch))
            pending.append((connection, batch, None, 0))

    def go_on(connection, batch, made, step):
        if step == len(steps):
            begin(connection)
            return
        connection.send([steps[step][0](*each) for each in zip(made, batch)])
        pending.append((connection, batch, made, step + 1))

    try:
        for connection in connections:
            begin(connection)
        while pending:
            if time.monotonic() > deadline:
                raise Failed(f"only {len(tokens)} sessions were made in {seconds} s")
            connection, batch, made, step = pending.pop(0)
            if made is None:
                made = [token.search(body).group(1).decode() for body in connection.answers(len(batch), 201)]
                tokens += made
            else:
                connection.answers(len(batch), steps[step - 1][1])
            go_on(connection, batch, made, step)
    finally:
        for connection in connections:
            connection.close()
    server.trim_log()
    return tokens


def write_tokens(path, tokens):
    """A file of them, one a line, in an order of chance that is the same every time."""
    tokens = random.Random(1).sample(tokens, len(tokens))
    if len({len(token) for token in tokens}) != 1:
        raise Failed("tokens differ in length")
    with open(path, "w") as file:
        file.writelines(token + "\n" for token in tokens)
    return path


def in_rounds(server, message, rounds, width=64, between=None):
    """The same request on `width` connections at once, read from all, `rounds` times: a known number of requests."""
    connections = [Pipeline(server) for _ in range(width)]
    try:
        for number in range(-3, rounds):  # three rounds to warm up
            if number == 0 and between:
                between()
            for connection in connections:
                connection.send([message])
            for connection in connections:
                connection.answers(1, 200)
        return rounds * width
    finally:
        for connection in connections:
            connection.close()


def idle(server, message, count):
    """So many connections that have each had one answer. The caller closes them."""
    connections = []
    try:
        for number in range(count):
            # Another source address every 20,000: there are only so many ports.
            source = (f"127.0.0.{2 + number // 20000}", 0)
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=10, source_address=source)
            connections.append(connection)
            connection.sendall(message)
            if read_answer(connection)[0] != 200:
                raise Failed("a connection was not answered 200")
    except OSError as error:
        close_all(connections)
        raise Failed(f"after {len(connections)} connections: {error}") from None
    except BaseException:
        close_all(connections)
        raise
    return connections


def close_all(connections):
    for connection in connections:
        connection.close()
