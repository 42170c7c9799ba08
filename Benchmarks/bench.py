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
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ in the tree

from log import Log
from measuring import FOREIGN_LIMIT, HERE, Bench
from rows import DURABLE_ROWS, ROWS
from server import Failed


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
          f"{bench.server_core}, load on core {bench.load_core}; {bench.options.memory:,} bytes of memory a "
          "connection\n")


def print_table(bench):
    lines = [("figure", "ours", "other", "ratio", "target", "met"), *bench.table]
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
    parser.add_argument("--server", default=os.path.join(os.path.dirname(HERE), ".build/release/concierge"),
                        help="the program to measure")
    parser.add_argument("--against", metavar="FILE", help="another of ours that the row hot compares it with")
    parser.add_argument("--rows", default=",".join(ROWS), help="only these, with commas between")
    parser.add_argument("--quick", action="store_true",
                        help="3 runs of 1 s, fewer sessions and idle connections")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for our server")
    parser.add_argument("--memory", type=int, default=8192, help="bytes a connection of the bare server (default 8192)")
    parser.add_argument("--self", dest="itself", action="store_true",
                        help="measure the bare server against itself: every ratio must be about 1")
    parser.add_argument("--log-files", action="store_true",
                        help="the servers' logs go to files that grow, instead of memory that is written over")
    parser.add_argument("--minutes", type=float, default=60, help="end after so long with what there is (default 60)")
    options = parser.parse_args(arguments)
    options.rows = options.rows.split(",")
    if options.itself:
        options.rows = [row for row in options.rows if row not in DURABLE_ROWS]  # the bare server stores nothing
    if unknown := [row for row in options.rows if row not in ROWS]:
        parser.error(f"no row {unknown[0]!r}; there are {', '.join(ROWS)}")
    if not options.itself and not os.access(options.server, os.X_OK):
        parser.error(f"{options.server} is not there; run make build first")
    if options.against and not os.access(options.against, os.X_OK):
        parser.error(f"{options.against} is not there")
    return options


class TooLate(Exception):
    """The time for everything is over. Not a TimeoutError: those are sockets', and cost one row only."""


def too_late(*_):
    raise TooLate


def main(arguments):
    options = parse(arguments)
    Log.in_files = options.log_files
    tools = ["wrk", "gcc", "strace", *(["redis-server", "webdis"] if {"durable", "servers", "shared", "spread"} & set(options.rows) else [])]
    if missing := [tool for tool in tools if not shutil.which(tool)]:
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
        except TooLate:
            failures += 1
            bench.notes.append(f"ended after {options.minutes:g} minutes, before everything was measured")
        signal.setitimer(signal.ITIMER_REAL, 0)
        if bench.taken:
            bench.notes.append(f"others used more than {FOREIGN_LIMIT:.0%} of a core in {bench.disturbed} of "
                               f"{bench.taken} turns that count; {bench.repeated} were taken again for it")
        print_table(bench)
        print(f"note: took {time.monotonic() - started:.0f} s, load average at the end {os.getloadavg()[0]:.2f}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
