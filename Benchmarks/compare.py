#!/usr/bin/env python3
"""Compares what each main call costs in the present program and in that of another commit.

Both servers are on one core and the load, load.c, on the other. README.md beside this file says how to read the table.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

sys.dont_write_bytecode = True  # no __pycache__ in the tree

from load import PROFILE, WRITTEN, fill, plain, request, write_tokens
from measuring import FOREIGN_LIMIT, HERE, Bench, compile_c
from rows import JOURNEY, journey_request
from server import Failed
from spread import NAME, NEXT

ROOT = os.path.dirname(HERE)
BUILT = ".build/release/concierge"
SESSIONS = 1000
LEAST = 0.98  # of what the old program needs over what the new one needs
MOST_FOR_KEY = 1.5  # times the processor time of the same event without a key
# Older programs know some of them or none.
SETTINGS = [f"quotas.{name}=none" for name in ("requests", "sessions", "session_requests", "connections")]


def alternating(message, one, two):
    """The message with one word for all sessions, then with the other: a mark of load.c. The words have one length."""
    return message.replace(one.encode(), f"<{one}|{two}>".encode())


GET = request("GET", PROFILE, NEXT)
PATCH = request("PATCH", PROFILE, NEXT, f'{{"name":"{NAME}"}}')
EVENT = journey_request(NEXT, "POST", f"{JOURNEY}/events", '{"event":"next"}')
KEYED = EVENT.replace(b"\r\n", f"\r\nIdempotency-Key: {NAME}\r\n".encode(), 1)
REFUSED = journey_request(NEXT, "POST", f"{JOURNEY}/events", '{"event":"sign_in"}')
LINK = alternating(journey_request(NEXT, "POST", f"{JOURNEY}/navigation", '{"to":"page3"}'), "page3", "page1")
TRANSACTION = alternating(journey_request(
    NEXT, "POST", "/v1/sessions/current/transactions",
    f'{{"operations":[{{"op":"patch","service":"profile","value":{{"name":"{NAME}"}}}},'
    '{"op":"patch","service":"quote","value":{"author":"ada"}}]}'), "ada", "eva")
BEGINNING = (*WRITTEN, (lambda token, _: journey_request(token, "PUT", JOURNEY, '{"flow":"walk1"}'), 201))


class Call(NamedTuple):
    title: str
    message: bytes
    statuses: tuple = (200,)
    durable: bool = False
    other: bytes | None = None  # what is asked of the new program, too, to compare with in place of the old one


CALLS = {
    "get": Call("GET profile", GET),
    "patch": Call("PATCH profile", PATCH),
    "event": Call("event", EVENT),
    "refused": Call("event that is refused", REFUSED, (409, 422)),
    "transaction": Call("transaction, two services", TRANSACTION),
    "create": Call("create session", request("POST", "/v1/sessions"), (201,)),
    "navigation": Call("navigation", LINK),
    "flows": Call("GET flows", request("GET", "/v1/flows")),
    "durable-patch": Call("durable PATCH profile", PATCH, durable=True),
    "durable-event": Call("durable event", EVENT, durable=True),
    "keyed": Call("new: event, key", KEYED, other=EVENT),
    "durable-keyed": Call("new: durable event, key", KEYED, durable=True, other=EVENT),
}


class Program:
    """One of the two programs, with those of the settings that it knows."""

    def __init__(self, path, folder):
        self.path = os.path.abspath(path)
        if not os.access(self.path, os.X_OK):
            sys.exit(f"compare: {path} is not there")
        self.words = ["--services", os.path.join(folder, "services"), "--flows", os.path.join(folder, "flows")]
        for words in (["--set", setting] for setting in SETTINGS):
            check = subprocess.run([self.path, "config", *words], cwd=folder, capture_output=True, check=False)
            self.words += words if check.returncode == 0 else []

    def server(self, bench, store):
        server = bench.ours(program=self.path, words=self.words, store=store)
        server.folder = bench.folder  # where no configuration file is
        return server


def build(commit):
    """The program of a commit, which is built once."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], stdout=subprocess.PIPE, check=False).stdout

    name = git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").decode().strip()
    if not name:
        sys.exit(f"compare: there is no commit {commit}")
    folder = os.path.join(ROOT, ".build/compare")
    program = os.path.join(folder, name)
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as tree:
            subprocess.run(["tar", "-x", "-C", tree], input=git("archive", name), check=True)
            make(tree)
            os.replace(os.path.join(tree, BUILT), program)
    return program


def make(tree):
    if subprocess.run(["nice", "make", "-C", tree, "build"], stdout=sys.stderr, check=False).returncode:
        sys.exit("compare: the build failed")


def take_round(bench, call, sides, order):
    """The results of both sides in a round: new servers, and a run for each place in the order of sides."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        def server(side):
            return sides[side][0].server(bench, f"sqlite:{folder}/{side}.db" if call.durable else "memory")

        with server(0) as one, server(1) as other:
            loads = [prepare(bench, server, message, call.statuses, os.path.join(folder, f"{server.port}.tokens"))
                     for server, (_, message) in zip((one, other), sides)]
            for load in loads:
                load(30, requests=5 * SESSIONS)
            runs = [(side, loads[side](bench.seconds)) for side in order]
    return tuple(together([run for of, run in runs if of == side]) for side in (0, 1))


def prepare(bench, server, message, statuses, path):
    """A load that fails unless all responses have the status of the first, one of those."""
    tokens = fill(server, 0, SESSIONS, 60, BEGINNING)
    status, _, body = server.ask(re.sub(rb"<(\w+)\|\w+>", rb"\1", message.replace(b"*", tokens[0].encode())))
    if status not in statuses:
        raise Failed(f"{status} {body[:300].decode()}")
    tokens = write_tokens(path, tokens) if b"*" in message else None
    program = compile_c("load.c", bench.folder, "load")

    def load(seconds, requests=None):
        result = plain(server, program, message, status, 64, seconds, bench.load_core, tokens, None, requests)
        if result["failed"]:
            raise Failed(f"{result['failed']} of {result['requests']} responses were not {status}")
        return result
    return load


def together(runs):
    requests = sum(run["requests"] for run in runs)
    return {"cpu": sum(run["cpu"] * run["requests"] for run in runs) / requests,
            "rate": requests / sum(run["duration"] for run in runs) * 1e6,
            "foreign": max(run["foreign"] for run in runs)}


def compare(bench, call, old, new):
    """The cells of a call's line."""
    sides = [(new, call.other) if call.other else (old, call.message), (new, call.message)]
    rounds = [bench.undisturbed(lambda order=order: take_round(bench, call, sides, order))
              for order in (((0, 1, 1, 0), (1, 0, 0, 1))[number % 2] for number in range(bench.runs))]
    costs = [f"{statistics.median(results[side]['cpu'] for results in rounds):.2f}" for side in (0, 1)]
    ratios = [before["cpu"] / after["cpu"] for before, after in rounds]
    cost = statistics.median(ratios)
    rate = statistics.median(after["rate"] / before["rate"] for before, after in rounds)
    # The disk decides about requests/s of a durable call; the processor time of a commit depends on how many share it.
    if call.durable and not call.other:
        target, met = f"requests/s ≥ {LEAST}", rate >= LEAST
    else:
        least = 1 / MOST_FOR_KEY if call.other else LEAST
        target, met = f"CPU ≥ {least:.2f}", cost >= least
    return (call.title, *costs, f"{cost:.3f}", f"{min(ratios):.3f} to {max(ratios):.3f}", f"{rate:.3f}", target,
            "yes" if met else "NO")


def print_line(cells):
    widths = (25, 7, 7, 11, 14, 18, 17, 3)
    print("  ".join(f"{cell:{'>' if place else '<'}{width}}" for place, (cell, width) in enumerate(zip(cells, widths))),
          flush=True)


def parse(arguments):
    calls = "\n".join(f"  {name:14} {call.title}" for name, call in CALLS.items())
    parser = argparse.ArgumentParser(prog="scripts/compare", description=__doc__.splitlines()[0],
                                     epilog="calls:\n" + calls, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", help="what to compare with, built once")
    parser.add_argument("--against", metavar="FILE", help="a program to compare with, in place of a commit's")
    parser.add_argument("--program", metavar="FILE", help="the new program, in place of what make build makes")
    parser.add_argument("--rounds", type=int, default=9, help="default 9")
    parser.add_argument("--seconds", type=int, default=1, help="of each of the four runs in a round (default 1)")
    parser.add_argument("--calls", default=",".join(CALLS), help="only these, with commas between")
    options = parser.parse_args(arguments, argparse.Namespace(set=[], quick=False, itself=False))
    options.calls = options.calls.split(",")
    if (options.commit is None) == (options.against is None):
        parser.error("name a commit, or a program with --against")
    if unknown := [name for name in options.calls if name not in CALLS]:
        parser.error(f"no call {unknown[0]!r}; there are {', '.join(CALLS)}")
    return options


def main(arguments):
    options = parse(arguments)
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("compare: two cores are needed, one for the servers and one for the load")
    against = options.against or build(options.commit)
    if not options.program:
        make(ROOT)
    os.sched_setaffinity(0, {cores[1]})  # this driver is load, too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    met = []
    with tempfile.TemporaryDirectory(prefix="concierge-compare-") as folder:
        for part in ("services", "flows"):
            os.mkdir(os.path.join(folder, part))
        with open(os.path.join(HERE, "walk.json")) as file:
            flow = file.read()
        for name in (f"walk{number}" for number in range(1, 6)):
            with open(os.path.join(folder, "flows", f"{name}.json"), "w") as file:
                file.write(flow.replace('"walk"', f'"{name}"'))
        old, new = Program(against, folder), Program(options.program or os.path.join(ROOT, BUILT), folder)
        bench = Bench(options, folder, cores)
        bench.runs, bench.seconds = options.rounds, options.seconds
        print(f"old: {options.against or options.commit}; new: {options.program or BUILT}; {bench.runs} rounds of four "
              f"runs of {bench.seconds} s, medians; servers on core {cores[0]}, load on core {cores[1]}\n")
        print_line(("call", "old, µs", "new, µs", "CPU old/new", "range", "requests/s new/old", "target", "met"))
        for name in options.calls:
            try:
                cells = compare(bench, CALLS[name], old, new)
            except (Failed, OSError) as error:
                cells = (f"{CALLS[name].title}: {error}",)
            print_line(cells)
            met.append(cells[-1] == "yes")
        print(f"\nothers used more than {FOREIGN_LIMIT:.0%} of a core in {bench.disturbed} of {bench.taken} rounds; "
              f"{bench.repeated} were taken again for it")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
