"""The rows of the benchmark: each a function of the bench, titled by the first line of its documentation."""

import json
import os
import statistics
import subprocess
import time

import attack
import durable
import load
import shared
import slow
import spread
from load import PROFILE, WRITTEN, fill, plain, request, write_tokens, wrk
from measuring import compile_c, expect, header, number, sides
from server import AllocationCounter, Failed, SystemCalls, free_port, on_core

MIB = 1024 * 1024
CONFIG = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "config")
FLOWS = ["--services", os.path.join(CONFIG, "services"), "--flows", os.path.join(CONFIG, "flows")]
JOURNEY = "/v1/sessions/current/journeys/main"
NEXT = '{"event":"next"}'


def row_get(bench):
    """GET profile, 64 connections"""
    get_rows(bench, "GET profile", 64, {}, 0.92, 1.12)


def row_get1024(bench):
    """GET profile, 1,024 connections"""
    get_rows(bench, "GET, 1,024 connections", 1024, {}, 0.90)


def row_304(bench):
    """GET profile with If-None-Match, 64 connections"""
    program = compile_c("load.c", bench.folder, "load")

    def prepare(server):
        token = one_token(bench, server)
        etag = header(server.ask(request("GET", PROFILE, token))[1], "ETag")
        message = request("GET", PROFILE, token, extra=f"If-None-Match: {etag}\r\n")
        expect(server.ask(message)[0], 304, server.command[0])
        return lambda seconds: plain(server, program, message, 304, 64, seconds, bench.load_core)

    bench.compare("GET 304", bench.new_servers((bench.ours, prepare), (bench.bare, prepare)), 0.95)


def get_rows(bench, name, connections, environment, rate_target, cpu_target=None):
    def prepare(server):
        token = one_token(bench, server)
        return lambda seconds: wrk(server, "get", connections, seconds, bench.load_core, TOKEN=token, **environment)

    bench.compare(name, bench.new_servers((bench.ours, prepare), (bench.bare, prepare)), rate_target, cpu_target)


def one_token(bench, server):
    """Of a session with a written profile; the bare server takes any."""
    return bench.token if server.command[0] == bench.bare_program else fill(server, 0, 1, 30)[0]


def row_patch(bench):
    """PATCH profile over 1,000 sessions, 64 connections"""
    with bench.ours() as ours, bench.bare() as bare:
        environment = {"TOKENS": bench.tokens(ours, 1000, "patch.tokens")}
        bench.compare("PATCH profile", bench.alternate("patch", 64, [(ours, environment), (bare, environment)]), 0.65)


def row_event(bench):
    """an event of a journey on the wizard over 1,000 sessions, 64 connections"""
    def prepare(server):
        if server.command[0] == bench.bare_program:
            # Answers every POST with what it was given for that, whoever asks.
            return lambda seconds: wrk(server, "event", 64, seconds, bench.load_core, TOKENS=any_tokens)
        return events(bench, server)

    with bench.ours(words=FLOWS) as ours:
        tokens = fill(ours, 0, 1000, 60)
        any_tokens = write_tokens(os.path.join(bench.folder, "bare.tokens"), tokens)
        view = begin_journeys(ours, tokens).decode()
    runs = bench.new_servers((lambda: bench.ours(words=FLOWS), prepare),
                             (lambda: bench.bare(words=["--created", view]), prepare))
    bench.compare("event on wizard", runs, 0.45)


def events(bench, server, **environment):
    """A load of events, a function of seconds; the environment is for its script."""
    tokens = fill(server, 0, 1000, 60)
    taken = write_tokens(os.path.join(bench.folder, "event.tokens"), tokens)

    def load(seconds):
        # A run ends in the middle of a round: each begins where all stand on the same page.
        begin_journeys(server, tokens)
        return wrk(server, "event", 64, seconds, bench.load_core, TOKENS=taken, **environment)
    return load


def row_eventfields(bench):
    """an event with an Idempotency-Key, and one with Prefer: return=minimal, against one without; all ours"""
    def side(**environment):
        return lambda: bench.ours(words=FLOWS), lambda server: events(bench, server, **environment)

    plain, keyed, minimal = sides(bench.new_servers(side(), side(KEYS="1"), side(PREFER="return=minimal")))
    for title, some, most in (("Idempotency-Key", keyed, 1.4), ("Prefer: return=minimal", minimal, 1.0)):
        ratio = some.over(plain, "cpu")
        bench.add(f"event, {title} over without: server CPU, µs", f"{some['cpu']:.2f}", f"{plain['cpu']:.2f}", ratio,
                  f"≤ {most:.2f}", ratio <= most)


def row_journey(bench):
    """GET of a journey that has not moved against GET of a profile of the same length, both ours, 64 connections"""
    program = compile_c("load.c", bench.folder, "load")

    def size(server, path, token):
        return len(server.ask(request("GET", path, token))[2])

    def load(server, path, token):
        return lambda seconds: plain(server, program, request("GET", path, token), 200, 64, seconds, bench.load_core)

    def journey(server):
        token = fill(server, 0, 1, 30)[0]
        begin_journeys(server, [token])
        return load(server, JOURNEY, token)

    def short(server):
        return load(server, PROFILE, fill(server, 0, 1, 30)[0])

    def long(server):
        # A journey's view shows the profile: the one that is to be as long as it has no journey beside it.
        one, other = fill(server, 0, 2, 30)
        begin_journeys(server, [one])
        missing = size(server, JOURNEY, one) - size(server, PROFILE, other) - len('"a":""')
        attributes = f'{{"attributes":{{"a":"{"a" * missing}"}}}}'
        expect(server.ask(request("PATCH", PROFILE, other, attributes))[0], 200, "PATCH profile")
        expect(size(server, PROFILE, other), size(server, JOURNEY, one), "bytes of the profile")
        return load(server, PROFILE, other)

    # The same before and after: how far one program is from itself says what the ratio can tell.
    runs = bench.new_servers(*((lambda: bench.ours(words=FLOWS), side) for side in (long, journey, long, short)))
    profile, journey, again, short = sides(runs)
    ratio = statistics.mean([journey.over(profile, "rate"), journey.over(again, "rate")])
    title = "GET journey, unmoved, over GET profile of its length"
    bench.add(f"{title}: requests/s", number(journey["rate"]), number(profile["rate"]), ratio, "≥ 1.00", ratio >= 1)
    bench.add("  server CPU per request, µs", f"{journey['cpu']:.2f}", f"{profile['cpu']:.2f}",
              statistics.mean([journey.over(profile, "cpu"), journey.over(again, "cpu")]))
    bench.add("  that profile over itself: requests/s", number(again["rate"]), number(profile["rate"]),
              again.over(profile, "rate"))
    bench.add("  server CPU per request, µs", f"{again['cpu']:.2f}", f"{profile['cpu']:.2f}", again.over(profile, "cpu"))
    bench.add("  over a profile as it begins: requests/s", number(journey["rate"]), number(short["rate"]),
              journey.over(short, "rate"))
    bench.add("  server CPU per request, µs", f"{journey['cpu']:.2f}", f"{short['cpu']:.2f}",
              journey.over(short, "cpu"))


# What brings a session's journey to the wizard's first page, with the statuses.
BEGINNING = ((("PUT", JOURNEY, '{"flow":"wizard"}'), 201), (("POST", f"{JOURNEY}/events", NEXT), 200))


def journey_request(token, method, path, body):
    return request(method, path, token, body, kind="application/json")


def begin_journeys(server, tokens):
    """Has the sessions stand on the wizard's first page, and gives what a client is shown there."""
    view = b""
    for token in tokens:
        for asked, expected in BEGINNING:
            status, _, view = server.ask(journey_request(token, *asked))
            # A journey that was there before is started again.
            if status not in (200, expected):
                raise Failed(f"{asked[0]} {asked[1]}: {status} {view[:200]}")
    return view


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
            bench.add("  bytes a session", number(each), target="≤ 1,024" if last else "",
                      met=each <= 1024 if last else None)
        bench.notes.append(f"{many:,} sessions were made and written in {time.monotonic() - started:.0f} s")
        with bench.ours() as small, bench.bare() as bare:
            in_many = write_tokens(os.path.join(bench.folder, "many.tokens"), tokens)
            in_few = bench.tokens(small, few, "few.tokens")
            del tokens
            program, message = compile_c("load.c", bench.folder, "load"), request("GET", PROFILE, "*")
            runs = bench.take_turns([
                lambda seconds, server=server, list=list:
                    plain(server, program, message, 200, 64, seconds, bench.load_core, list)
                for server, list in ((large, in_many), (small, in_few), (bare, in_many), (bare, in_few))])
        of_many, of_few, bare_many, bare_few = sides(runs)
        title = f"random GET, {many:,} over {few:,} sessions"
        full = many == 1_000_000
        ratio = of_many.over(of_few, "p99")
        bench.add(f"{title}: p99, µs", f"{number(of_many['p99'])} / {number(of_few['p99'])}",
                  f"{number(bare_many['p99'])} / {number(bare_few['p99'])}", ratio,
                  "≤ 1.30" if full else "", ratio <= 1.3 if full else None)
        bench.add("  server CPU per request, µs", f"{of_many['cpu']:.2f} / {of_few['cpu']:.2f}",
                  f"{bare_many['cpu']:.2f} / {bare_few['cpu']:.2f}", of_many.over(of_few, "cpu"))
        bench.notes.append("random GET: ratios are of our two servers; the bare server, which looks nothing up, shows "
                           "what the load generator alone makes of the longer list")


def row_journeys(bench):
    """memory of up to 1,000,000 sessions with a profile and a journey on the wizard's first page"""
    steps = (*WRITTEN, *((lambda token, _, asked=asked: journey_request(token, *asked), status)
                         for asked, status in BEGINNING))
    with bench.ours(words=FLOWS) as server:
        empty, many, started = server.resident(), bench.most_sessions, time.monotonic()
        fill(server, 0, many, 600, steps)
        each = (server.resident() - empty) / many
        full = many == 1_000_000
        bench.add(f"bytes a session with a journey, {many:,} sessions", number(each),
                  target="≤ 2,048" if full else "", met=each <= 2048 if full else None)
    bench.notes.append(f"{many:,} sessions with journeys were made in {time.monotonic() - started:.0f} s")


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


def row_streams(bench):
    """10,000 idle streams of events beside GETs, 20,000 a second, and a change that 1,000 see"""
    rate, (count, seen_by) = 20_000, (1000, 100) if bench.options.quick else (10_000, 1000)
    with bench.ours() as server:
        tokens = fill(server, 0, count, 60)
        lists = [write_tokens(os.path.join(bench.folder, f"streams{number}.tokens"), part)
                 for number, part in enumerate((tokens, tokens[:1]))]

        # At a rate, so that it is not the length of the client's own queue that is measured.
        load = spread.loading(bench, server, request("GET", PROFILE, tokens[0]), rate=rate)

        def get():
            return [load(bench.seconds) for _ in range(bench.runs)]

        without = get()
        with Streams(bench, server, lists[0], count):
            memory, among = server.resident() / MIB, get()
        with Streams(bench, server, lists[1], seen_by, patches=200) as streams:
            distances = streams.distances
    p99s = [statistics.median(run["p99"] for run in runs) for runs in (among, without)]
    full = not bench.options.quick
    bench.add(f"{count:,} idle streams, all of the server, MiB", f"{memory:.1f}", "", None, "≤ 160" if full else "",
              memory <= 160 if full else None)
    bench.add(f"GET at {rate:,}/s beside {count:,} idle streams over without: p99, µs", f"{p99s[0]:.0f}", f"{p99s[1]:.0f}",
              p99s[0] / p99s[1])
    seen = distances["p99_us"] / 1000
    bench.add(f"a change seen by {seen_by:,} streams, p99 after its answer, ms", f"{seen:.1f}", "", None, "≤ 50",
              seen <= 50)


class Streams:
    """streams.c, with its streams open, for the length of a `with`."""

    def __init__(self, bench, server, tokens, count, patches=0):
        self.command = [compile_c("streams.c", bench.folder, "streams"), str(server.port), tokens, str(count), str(patches)]
        self.core = bench.load_core

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=on_core(self.core))
        if self.process.stdout.readline() != "open\n":
            self.__exit__()
            raise Failed("the streams could not be opened")
        self.distances = json.loads(self.process.stdout.readline()) if self.command[-1] != "0" else None
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)


def row_start(bench):
    """start to first answer"""
    def once(make):
        port = free_port()
        server = make(port=port)
        try:
            return server.first_answers(port, request("GET", "/health/ready"))[0] * 1000
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


def rows_of(module):
    return {name[4:]: function for name, function in module.items() if name.startswith("row_")}


DURABLE_ROWS = {**rows_of(vars(spread)), **rows_of(vars(durable)), **rows_of(vars(shared))}
ROWS = {**rows_of(dict(globals())), **rows_of(vars(slow)), **rows_of(vars(attack)), **DURABLE_ROWS}
