#!/usr/bin/env python3
"""Measures Concierge against the bare libmicrohttpd server of bare.c, in one run, and prints one table.

Both servers live on one core and the load on another; runs alternate (ours, bare, ours, bare, …) so that whatever
else the machine does falls on both; the table shows medians. README.md beside this file says how to read it.
"""

import argparse
import os
import platform
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ in the tree

import load
from load import PROFILE, fill, request, wrk, write_tokens
from server import AllocationCounter, Failed, Server, SystemCalls, free_port

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MIB = 1024 * 1024

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
        self.runs, self.seconds = (3, 1) if options.quick else (5, 3)
        self.most_sessions = 100_000 if options.quick else 1_000_000
        self.bare_program = compile_c("bare.c", folder, "bare", "-lmicrohttpd", "-lpthread")
        self.bare_answers = []  # options that make its answers as long as ours
        self.table = []
        self.notes = []
        self.repeat_budget = REPEAT_BUDGET
        self.repeated = self.disturbed = self.taken = 0

    # Servers

    def ours(self, environment=None, port=0):
        if self.options.itself:
            return self.bare(environment, port)
        settings = ["max_sessions=2000000", *self.options.set]
        command = [self.options.server, "serve", "--host", "127.0.0.1", "--port", str(port), "--admin-port", "0",
                   "--store", "memory", "--workers", "1", *(word for s in settings for word in ("--set", s))]
        return Server(command, self.server_core, self.folder, environment)

    def bare(self, environment=None, port=0):
        command = [self.bare_program, "--port", str(port), "--memory", str(self.options.memory), *self.bare_answers]
        return Server(command, self.server_core, self.folder, environment)

    def tokens(self, server, count, name):
        """A file of tokens of so many new sessions with a written profile; the bare server takes any."""
        return write_tokens(os.path.join(self.folder, name), fill(server, 0, count, 300))

    def match_answers(self):
        """Asks ours once for everything, and makes the bare server answer in as many bytes."""
        with self.ours() as server:
            token = fill(server, 0, 1, 30)[0]
            status, created_head, created = server.ask(request("POST", "/v1/sessions"))
            expect(status, 201, "POST /v1/sessions")
            status, head, body = server.ask(request("GET", PROFILE, token))
            expect(status, 200, "GET profile")
            etag = header(head, "ETag")
            if etag is None:
                raise Failed("GET profile has no ETag")
            status, not_modified, _ = server.ask(request("GET", PROFILE, token, extra=f"If-None-Match: {etag}\r\n"))
            expect(status, 304, "GET profile with If-None-Match")
        self.bare_answers = ["--body", body.decode(), "--created", created.decode(), "--etag", etag]
        with self.bare() as server:
            _, bare_head, bare_body = server.ask(request("GET", PROFILE, token))
        self.add("bytes of a GET answer", number(len(head) + 4 + len(body)), number(len(bare_head) + 4 + len(bare_body)),
                 (len(head) + len(body)) / (len(bare_head) + len(bare_body)))

    # Table

    def add(self, figure, ours, bare="", ratio=None, target="", met=None):
        """A line. `met` is None where there is nothing to reach."""
        self.table.append((figure, ours, bare, "" if ratio is None else f"{ratio:.2f}", target,
                           "" if met is None else "yes" if met else "NO"))

    def compare(self, name, runs, rate_target=None, cpu_target=None):
        """The lines of one kind of load from the runs of both: throughput, processor time, latency."""
        ours, bare = ({key: statistics.median(run[key] for run in side) for key in side[0]} for side in zip(*runs))
        ratio = ours["rate"] / bare["rate"]
        self.add(f"{name}: requests/s", number(ours["rate"]), number(bare["rate"]), ratio,
                 f"≥ {rate_target:.2f}" if rate_target else "", ratio >= rate_target if rate_target else None)
        ratio = ours["cpu"] / bare["cpu"] if bare["cpu"] else 0
        self.add("  server CPU per request, µs", f"{ours['cpu']:.2f}", f"{bare['cpu']:.2f}", ratio,
                 f"≤ {cpu_target:.2f}" if cpu_target else "", ratio <= cpu_target if cpu_target else None)
        for key in ("p50", "p99"):
            self.add(f"  {key}, µs", number(ours[key]), number(bare[key]), ours[key] / max(bare[key], 1))
        for side, result in (("ours", ours), ("bare", bare)):
            if result["busy"] < 0.9:
                self.notes.append(f"{name}, {side}: its core was only {result['busy']:.0%} busy, the load or the "
                                  "machine was the limit; the CPU per request is the figure to look at")

    def alternate(self, script, connections, sides):
        """Runs of both sides in turn, after a warm-up of each: [(result, result), …]."""
        for server, environment in sides:
            wrk(server, script, connections, 1, self.load_core, **environment)
        return [self.undisturbed(lambda: tuple(
                    wrk(server, script, connections, self.seconds, self.load_core, **environment)
                    for server, environment in sides))
                for _ in range(self.runs)]

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


# Rows. Each is a function of the bench; its first line of documentation is its title in `--help`.


def row_get(bench):
    """GET profile, 64 connections"""
    get_rows(bench, "GET profile", 64, {}, 0.92, 1.12)


def row_get1024(bench):
    """GET profile, 1,024 connections"""
    get_rows(bench, "GET, 1,024 connections", 1024, {}, 0.90)


def row_304(bench):
    """GET profile with If-None-Match, 64 connections"""
    with bench.ours() as ours:
        token = fill(ours, 0, 1, 30)[0]
        etag = header(ours.ask(request("GET", PROFILE, token))[1], "ETag")
        with bench.bare() as bare:
            condition = {"TOKEN": token, "ETAG": etag}
            expect(ours.ask(request("GET", PROFILE, token, extra=f"If-None-Match: {etag}\r\n"))[0], 304, "ours")
            expect(bare.ask(request("GET", PROFILE, token, extra=f"If-None-Match: {etag}\r\n"))[0], 304, "bare")
            bench.compare("GET 304", bench.alternate("get", 64, [(ours, condition), (bare, condition)]), 0.95)


def get_rows(bench, name, connections, environment, rate_target, cpu_target=None):
    with bench.ours() as ours, bench.bare() as bare:
        environment = {"TOKEN": fill(ours, 0, 1, 30)[0], **environment}
        sides = [(ours, environment), (bare, environment)]
        bench.compare(name, bench.alternate("get", connections, sides), rate_target, cpu_target)


def row_patch(bench):
    """PATCH profile over 1,000 sessions, 64 connections"""
    with bench.ours() as ours, bench.bare() as bare:
        environment = {"TOKENS": bench.tokens(ours, 1000, "patch.tokens")}
        bench.compare("PATCH profile", bench.alternate("patch", 64, [(ours, environment), (bare, environment)]), 0.65)


def row_create(bench):
    """create a session, 64 connections; a new server for every run"""
    def run(make, seconds):
        with make() as server:
            return wrk(server, "create", 64, seconds, bench.load_core)

    for make in (bench.ours, bench.bare):
        run(make, 1)
    runs = [bench.undisturbed(lambda: (run(bench.ours, bench.seconds), run(bench.bare, bench.seconds)))
            for _ in range(bench.runs)]
    bench.compare("create session", runs, 0.60)


def row_sessions(bench):
    """memory of up to 1,000,000 sessions with a profile, and the latency of finding one among them"""
    few, many = 1000, bench.most_sessions
    with bench.ours() as large:
        empty = large.resident()
        bench.add("memory, no session, MiB", f"{empty / MIB:.1f}")
        started = time.monotonic()
        tokens = []
        for count in sorted({100_000, many}):
            tokens += fill(large, len(tokens), count, 300)
            grown = large.resident() - empty
            each = grown / count
            bench.add(f"memory, {count:,} sessions, MiB", f"{(empty + grown) / MIB:.1f}")
            last = count == 1_000_000
            bench.add("  bytes a session", number(each), target="≤ 1,024" if last else "", met=each <= 1024 if last else None)
        bench.notes.append(f"{many:,} sessions were made and written in {time.monotonic() - started:.0f} s")
        with bench.ours() as small, bench.bare() as bare:
            in_many = {"TOKENS": write_tokens(os.path.join(bench.folder, "many.tokens"), tokens)}
            in_few = {"TOKENS": bench.tokens(small, few, "few.tokens")}
            del tokens
            runs = bench.alternate("get-random", 64, [(large, in_many), (small, in_few), (bare, in_many), (bare, in_few)])
        p99 = [statistics.median(run[side]["p99"] for run in runs) for side in range(4)]
        cpu = [statistics.median(run[side]["cpu"] for run in runs) for side in range(4)]
        title = f"random GET, {many:,} over {few:,} sessions"
        full = many == 1_000_000
        ratio = p99[0] / max(p99[1], 1)
        bench.add(f"{title}: p99, µs", f"{number(p99[0])} / {number(p99[1])}", f"{number(p99[2])} / {number(p99[3])}", ratio,
                  "≤ 1.30" if full else "", ratio <= 1.3 if full else None)
        bench.add("  server CPU per request, µs", f"{cpu[0]:.2f} / {cpu[1]:.2f}", f"{cpu[2]:.2f} / {cpu[3]:.2f}", cpu[0] / cpu[1])
        bench.notes.append("random GET: ratios are of our two servers; the bare server, which looks nothing up, shows "
                           "what the load generator alone makes of the longer list")


def row_idle(bench):
    """10,000 idle connections"""
    count = 1000 if bench.options.quick else 10_000
    grown = []
    for make in (bench.ours, bench.bare):
        with make() as server:
            message = request("GET", PROFILE, fill(server, 0, 1, 30)[0])
            server.ask(message)
            before = server.resident()
            connections = load.idle(server, message, count)
            try:
                grown.append((server.resident() - before) / MIB)
            finally:
                load.close_all(connections)
    full = count == 10_000
    bench.add(f"{count:,} idle connections, MiB", f"{grown[0]:.1f}", f"{grown[1]:.1f}", grown[0] / max(grown[1], 0.1),
              "≤ 96" if full else "", grown[0] <= 96 if full else None)


def row_start(bench):
    """start to first answer"""
    def once(make):
        port = free_port()
        server = make(port=port)
        server.port = port
        started = time.monotonic()
        server.spawn()
        try:
            while time.monotonic() - started < 10:
                try:
                    if server.ask(request("GET", "/health/ready"))[0] == 200:
                        return (time.monotonic() - started) * 1000
                except (OSError, Failed):
                    pass
                if server.process.poll() is not None:
                    raise Failed(f"it ended with status {server.process.returncode}: {server.last_words()}")
                time.sleep(0.0005)
            raise Failed("no 200 from /health/ready within 10 s")
        finally:
            server.__exit__()

    times = [(once(bench.ours), once(bench.bare)) for _ in range(9)]
    ours, bare = (statistics.median(side) for side in zip(*times))
    bench.add("start to first answer, ms", f"{ours:.1f}", f"{bare:.1f}", ours / bare, "≤ 100", ours <= 100)


def row_calls(bench):
    """system calls per GET"""
    rounds, counted = 50 if bench.options.quick else 200, []
    for make in (bench.ours, bench.bare):
        with make() as server:
            message = request("GET", PROFILE, fill(server, 0, 1, 30)[0])
            # Attached after the connections are open and warm, so that only requests are counted.
            calls = SystemCalls(server, bench.folder)
            try:
                requests = load.in_rounds(server, message, rounds, between=calls.__enter__)
            finally:
                if hasattr(calls, "process"):
                    calls.__exit__()
            counted.append({name: count / requests for name, count in calls.counts.items()})
    ours, bare = counted
    total = [sum(side.values()) for side in counted]
    bench.add("system calls per GET", f"{total[0]:.2f}", f"{total[1]:.2f}", total[0] / max(total[1], 0.01))
    for side, counts in (("ours", ours), ("bare", bare)):
        names = ", ".join(f"{name} {count:.2f}" for name, count in sorted(counts.items(), key=lambda item: -item[1])
                          if count >= 0.005)
        bench.notes.append(f"system calls per GET, {side}: {names}")


def row_allocations(bench):
    """heap allocations per GET"""
    library = compile_c("allocations.c", bench.folder, "allocations.so", "-shared", "-fPIC")
    rounds, counted = 100 if bench.options.quick else 500, []
    for make in (bench.ours, bench.bare):
        counter = AllocationCounter(library, bench.folder)
        with make(counter.environment) as server:
            message = request("GET", PROFILE, fill(server, 0, 1, 30)[0])
            begin = []
            requests = load.in_rounds(server, message, rounds, between=lambda: begin.extend(counter.read()))
            end = counter.read()
            if end[0] == 0:
                raise Failed("nothing was counted: the library was not loaded")
            counted.append([(after - before) / requests for before, after in zip(begin, end)])
    (ours, our_bytes), (bare, bare_bytes) = counted
    bench.add("heap allocations per GET", f"{ours:.2f}", f"{bare:.2f}")
    bench.add("  beyond the bare server's", f"{ours - bare:.2f}", target="each named")
    bench.add("  bytes asked for", number(our_bytes), number(bare_bytes))


ROWS = {name[4:]: function for name, function in list(globals().items()) if name.startswith("row_")}


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
    subprocess.run(["gcc", "-std=c11", "-O2", "-Wall", "-Wextra", os.path.join(HERE, source), "-o", target, *flags], check=True)
    return target


def first_line(*command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return (run.stdout.strip().splitlines() or ["?"])[0]


def print_machine(bench):
    with open("/proc/cpuinfo") as info:
        model = re.search(r"model name\s*: (.*)", info.read())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    print(f"machine   {model.group(1) if model else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
          f"Linux {platform.release()}, load average {' '.join(f'{value:.2f}' for value in os.getloadavg())}")
    ours = "the bare server itself" if bench.options.itself else first_line(bench.options.server, "version")
    print(f"versions  ours: {ours}; libmicrohttpd {first_line(bench.bare_program, '--version')}; "
          f"{' '.join(first_line('wrk', '-v').split()[:2])}; {first_line('gcc', '--version')}; "
          f"Python {platform.python_version()}")
    print(f"runs      {bench.runs} of {bench.seconds} s for each side in turn, medians; servers on core "
          f"{bench.server_core}, load on core {bench.load_core}; {bench.options.memory:,} bytes of memory a connection\n")


def print_table(bench):
    lines = [("figure", "ours", "bare", "ratio", "target", "met"), *bench.table]
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    for index, line in enumerate(lines):
        cells = [line[0].ljust(widths[0]), *(line[i].rjust(widths[i]) for i in range(1, 6))]
        print("  ".join(cells).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))
    print()
    for note in bench.notes:
        print(f"note: {note}")


def parse(arguments):
    rows = "\n".join(f"  {name:12} {function.__doc__.splitlines()[0]}" for name, function in ROWS.items())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="rows:\n" + rows,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=os.path.join(ROOT, ".build/release/concierge"), help="the program to measure")
    parser.add_argument("--rows", default=",".join(ROWS), help="only these, with commas between")
    parser.add_argument("--quick", action="store_true", help="3 runs of 1 s, 100,000 sessions, 1,000 idle connections")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for our server")
    parser.add_argument("--memory", type=int, default=8192, help="bytes a connection of the bare server (default 8192)")
    parser.add_argument("--self", dest="itself", action="store_true",
                        help="measure the bare server against itself: every ratio must be about 1")
    parser.add_argument("--minutes", type=float, default=15, help="end after so long with what there is (default 15)")
    options = parser.parse_args(arguments)
    options.rows = options.rows.split(",")
    if unknown := [row for row in options.rows if row not in ROWS]:
        parser.error(f"no row {unknown[0]!r}; there are {', '.join(ROWS)}")
    if not options.itself and not os.access(options.server, os.X_OK):
        parser.error(f"{options.server} is not there; run make build first")
    return options


def too_late(*_):
    raise TimeoutError


def main(arguments):
    options = parse(arguments)
    if missing := [tool for tool in ("wrk", "gcc", "strace") if not shutil.which(tool)]:
        sys.exit(f"bench: {', '.join(missing)} missing; scripts/setup bench installs it")
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("bench: two cores are needed, one for the server and one for the load")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.sched_setaffinity(0, {cores[1]})  # this driver is load, too
    signal.signal(signal.SIGALRM, too_late)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.setitimer(signal.ITIMER_REAL, options.minutes * 60)

    failures = 0
    with tempfile.TemporaryDirectory(prefix="concierge-bench-") as folder:
        bench = Bench(options, folder, cores)
        print_machine(bench)
        started = time.monotonic()
        try:
            bench.match_answers()
            for name in options.rows:
                print(f"… {ROWS[name].__doc__.splitlines()[0]}", file=sys.stderr, flush=True)
                try:
                    ROWS[name](bench)
                except (Failed, OSError) as error:
                    failures += 1
                    bench.add(f"{name}: not measured", "–")
                    bench.notes.append(f"{name}: {error}")
        except Failed as error:
            failures += 1
            bench.notes.append(f"our server does not answer as it should: {error}")
        except TimeoutError:
            failures += 1
            bench.notes.append(f"ended after {options.minutes:g} minutes, before everything was measured")
        signal.setitimer(signal.ITIMER_REAL, 0)
        if bench.taken:
            bench.notes.append(f"others used more than {FOREIGN_LIMIT:.0%} of a core in {bench.disturbed} of {bench.taken} "
                               f"turns that count; {bench.repeated} were taken again for it")
        print_table(bench)
        print(f"note: took {time.monotonic() - started:.0f} s, load average at the end {os.getloadavg()[0]:.2f}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
