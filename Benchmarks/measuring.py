"""What every row of the benchmark uses: the two servers, runs in turn, the table so far."""

import functools
import os
import re
import statistics
import subprocess
import time

from device import Device
from load import PROFILE, fill, request, wrk, write_tokens
from server import Failed, Server

HERE = os.path.dirname(os.path.abspath(__file__))

# A run during which others took more than this part of a core from us says little. It is made again, as long as all
# repetitions together stay under the budget.
FOREIGN_LIMIT = 0.08
REPEAT_BUDGET = 180.0  # seconds
MOST_TURNS = 6


class Bench:
    """What every row needs: the two servers' commands, the length of runs, a folder, and the table so far."""

    def __init__(self, options, folder, cores):
        self.options = options
        self.folder = folder
        self.server_core, self.load_core = cores
        self.runs, self.seconds = (3, 1) if options.quick else (9, 2)
        self.long_seconds = 2 if options.quick else 5  # where a checkpoint comes now and then
        self.most_sessions = 100_000 if options.quick else 1_000_000
        self.bare_program = compile_c("bare.c", folder, "bare", "-lmicrohttpd", "-lpthread")
        self.bare_answers = []  # options that make its answers as long as ours
        self.idle_threads = 0  # beside its loop, so that it has as many threads as ours
        self.databases = {}  # by number of sessions: the path of a file of ours with so many, and tokens of them
        self.spread = 20_000 if options.quick else 200_000
        self.table = []
        self.notes = []
        self.repeat_budget = REPEAT_BUDGET
        self.repeated = self.disturbed = self.taken = 0

    # Servers

    def ours(self, environment=None, port=0, words=(), store="memory", program=None):
        if self.options.itself:
            return self.bare(environment, port)
        settings = ["max_sessions=2000000", *self.options.set]
        command = [program or self.options.server, "serve", "--host", "127.0.0.1", "--port", str(port),
                   "--admin-port", "0", "--store", store, "--workers", "1",
                   *(word for s in settings for word in ("--set", s)), *words]
        # Another program has a checkout of its own, and another configuration in it.
        folder = os.path.join(os.path.dirname(os.path.realpath(program)), *[os.pardir] * 3) if program else None
        return Server(command, self.server_core, environment, folder=folder)

    def bare(self, environment=None, port=0, words=()):
        command = [self.bare_program, "--port", str(port), "--memory", str(self.options.memory),
                   "--idle", str(self.idle_threads), *self.bare_answers, *words]
        return Server(command, self.server_core, environment)

    def tokens(self, server, count, name):
        """A file of tokens of so many new sessions with a written profile; the bare server takes any."""
        return write_tokens(os.path.join(self.folder, name), fill(server, 0, count, 300))

    @functools.cached_property
    def device(self):
        return Device(self.folder)

    def match_answers(self):
        """Asks ours once for everything, and makes the bare server answer in as many bytes, with as many threads."""
        with self.ours() as server:
            self.token = token = fill(server, 0, 1, 30)[0]
            status, created_head, created = server.ask(request("POST", "/v1/sessions"))
            expect(status, 201, "POST /v1/sessions")
            status, head, body = server.ask(request("GET", PROFILE, token))
            expect(status, 200, "GET profile")
            etag = header(head, "ETag")
            if etag is None:
                raise Failed("GET profile has no ETag")
            status, not_modified, _ = server.ask(request("GET", PROFILE, token, extra=f"If-None-Match: {etag}\r\n"))
            expect(status, 304, "GET profile with If-None-Match")
            self.idle_threads = 0 if self.options.itself else server.threads() - 1
        self.bare_answers = ["--body", body.decode(), "--created", created.decode(), "--etag", etag]
        with self.bare() as server:
            _, bare_head, bare_body = server.ask(request("GET", PROFILE, token))
        self.notes.append(f"the bare server has one loop and {self.idle_threads} threads that wait, as many as ours")
        ours, bare = len(head) + 4 + len(body), len(bare_head) + 4 + len(bare_body)
        self.add("bytes of a GET answer", number(ours), number(bare), ours / bare)

    # Table

    def add(self, figure, ours, bare="", ratio=None, target="", met=None):
        """A line. `met` is None where there is nothing to reach."""
        self.table.append((figure, ours, bare, "" if ratio is None else f"{ratio:.2f}", target,
                           "" if met is None else "yes" if met else "NO"))

    def compare(self, name, runs, rate_target=None, cpu_target=None):
        """The lines of one kind of load from the runs of both: throughput, processor time, latency."""
        ours, bare = sides(runs)
        ratio = ours.over(bare, "rate")
        self.add(f"{name}: requests/s", number(ours["rate"]), number(bare["rate"]), ratio,
                 f"≥ {rate_target:.2f}" if rate_target else "", ratio >= rate_target if rate_target else None)
        ratio = ours.over(bare, "cpu")
        self.add("  server CPU per request, µs", f"{ours['cpu']:.2f}", f"{bare['cpu']:.2f}", ratio,
                 f"≤ {cpu_target:.2f}" if cpu_target else "", ratio <= cpu_target if cpu_target else None)
        for key in ("p50", "p99"):
            self.add(f"  {key}, µs", number(ours[key]), number(bare[key]), ours.over(bare, key))
        for side, result in (("ours", ours), ("bare", bare)):
            if result["busy"] < 0.9:
                self.notes.append(f"{name}, {side}: its core was only {result['busy']:.0%} busy, the load or the "
                                  "machine was the limit; the CPU per request is the figure to look at")

    def alternate(self, script, connections, sides):
        """Runs of wrk against both sides in turn: see `take_turns`."""
        return self.take_turns([
            lambda seconds, server=server, environment=environment:
                wrk(server, script, connections, seconds, self.load_core, **environment)
            for server, environment in sides])

    def take_turns(self, loads, seconds=None):
        """Runs of all loads in turn, after a warm-up of each: [(result, result), …]."""
        for load in loads:
            load(1)
        seconds = seconds or self.seconds
        return [self.undisturbed(lambda: tuple(load(seconds) for load in loads)) for _ in range(self.runs)]

    def new_servers(self, *sides):
        """Runs of all sides in turn, each of a server of its own: two instances of one program lie differently in
        memory and differ by up to a tenth, so that one of them says little of the program.

        A side is a function that makes a server, and one that takes it and gives its load, a function of seconds."""
        def run(make, prepare):
            with make() as server:
                load = prepare(server)
                load(1)
                return load(self.seconds)

        return [self.undisturbed(lambda: tuple(run(*side) for side in sides)) for _ in range(self.runs)]

    def undisturbed(self, turn):
        """Takes a turn (a run of each side), again while others use the cores and the budget lasts; the calmest."""
        best, started = None, time.monotonic()
        for attempt in range(MOST_TURNS):
            results = turn()
            foreign = max(result["foreign"] for result in results)
            if best is None or foreign < best[0]:
                best = (foreign, results)
            if foreign <= FOREIGN_LIMIT or self.repeat_budget <= 0 or attempt == MOST_TURNS - 1:
                break
            time.sleep(2)  # whoever it is may be about to end
            self.repeated += 1
            self.repeat_budget -= time.monotonic() - started
            started = time.monotonic()
        self.taken += 1
        self.disturbed += best[0] > FOREIGN_LIMIT
        return best[1]


class Side:
    """The results of one side, in the order of the turns. By its key each figure is the median of them."""

    def __init__(self, results):
        self.results = results

    def __getitem__(self, key):
        return statistics.median(result[key] for result in self.results)

    def over(self, other, key):
        """The median of what a turn's figure is over the other's in the same turn: a machine that is fast for a while
        is so for both."""
        return statistics.median(one[key] / max(another[key], 1e-9)
                                 for one, another in zip(self.results, other.results, strict=True))


def sides(runs):
    """Of turns, each a tuple of results."""
    return [Side(results) for results in zip(*runs)]


def header(head, name):
    found = re.search(rf"(?im)^{name}: *(.*?)\r?$", head)
    return found.group(1) if found else None


def expect(status, wanted, what):
    if status != wanted:
        raise Failed(f"{what}: {status} instead of {wanted}")


def number(value):
    return f"{value:,.0f}"


def compile_c(source, folder, name, *flags):
    target = os.path.join(folder, name)
    if os.path.exists(target):
        return target
    command = ["gcc", "-std=c11", "-O2", "-Wall", "-Wextra", os.path.join(HERE, source), "-o", target, *flags]
    subprocess.run(command, check=True)
    return target
