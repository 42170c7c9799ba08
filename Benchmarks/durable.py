"""The rows of the durable store: functions of the bench like those of rows.py."""

import base64
import contextlib
import itertools
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from load import PROFILE, fill, measured, plain, request, write_tokens, wrk, wrk_command
from measuring import compile_c, number, sides
from server import DiskCounter, Failed, free_port, on_core
from storing import multiply
from webdis import Webdis

MIB = 1024 * 1024
RESIDENT = 700  # bytes that a session with a profile counts for
READY = request("GET", "/health/ready")
# What a PATCH that is alone adds to SQLite's log: a page, with the head of its frame.
COMMIT_BYTES = 4096 + 24
# Sessions that the bench stores should not expire while it lasts.
LASTING = ["--set", "session_idle_timeout=1d", "--set", "session_lifetime=2d", "--set", "max_sessions=20000000"]
# More sessions than these are put into the file by storing.py, which knows so many of their tokens.
MOST_BY_REQUESTS = 1_000_000
KNOWN_TOKENS = 500_000


def row_durable(bench):
    """durable PATCH: against one sync at a time, the same in memory, and webdis with Redis"""
    note_disk(bench)
    count, sync_program = 1000, compile_c("sync.c", bench.folder, "sync")
    with on_disk(bench) as (ours, counter), bench.ours() as memory, Webdis(bench.server_core, bench.folder) as webdis:
        tokens = fill(ours, 0, count, 60)
        state = ours.ask(request("GET", PROFILE, tokens[0]))[2].decode()
        stored_tokens = write_tokens(os.path.join(bench.folder, "durable.tokens"), tokens)
        in_memory = bench.tokens(memory, count, "memory.tokens")
        loads = {
            "64": counted(patches(bench, ours, 64, stored_tokens), counter),
            "64 in memory": patches(bench, memory, 64, in_memory),
            "webdis": sets(bench, webdis, count, state),
            "sync": syncs(bench, sync_program),
            "512": counted(patches(bench, ours, 512, stored_tokens), counter),
            "512 in memory": patches(bench, memory, 512, in_memory),
        }
        runs = bench.take_turns(list(loads.values()), seconds=min(bench.seconds, 2))  # there are many of them
    results = dict(zip(loads, sides(runs)))
    ours, sync, webdis = results["64"], results["sync"], results["webdis"]
    against(bench, "durable PATCH, 64 connections, over one sync at a time: 1/s", ours, sync, 8, latency=False)
    bench.add("  a sync, µs (mean while serving, p50 one at a time)", number(ours["sync_time"]), number(sync["p50"]))
    bench.add("  PATCHes a sync", f"{ours['commits']:.1f}", "1")
    bench.add("  KiB written a sync", f"{ours['written'] / 1024:.1f}", f"{COMMIT_BYTES / 1024:.1f}")
    against(bench, "durable PATCH, 64 connections, over webdis and Redis: requests/s", ours, webdis, 1.2)
    against(bench, "durable PATCH, 64 connections, over the same in memory: requests/s", ours, results["64 in memory"])
    against(bench, "durable PATCH, 512 connections, over the same in memory: requests/s", results["512"],
            results["512 in memory"], 0.45)
    add_disk(bench, results["512"])
    bench.notes.append("durable PATCH: with 64 connections our server's core was "
                       f"{ours['busy']:.0%} busy and that of webdis and Redis {webdis['busy']:.0%}; with 512 ours "
                       f"{results['512']['busy']:.0%}; {count:,} sessions, or keys")
    with Webdis(bench.server_core, bench.folder, {bench.server_core, bench.load_core}) as webdis:
        rate = sets(bench, webdis, count, state)(bench.seconds)["rate"]
    bench.notes.append(f"webdis and Redis on two cores, which they share with the load: {number(rate)} requests/s")


def row_resident(bench):
    """GET of resident sessions of the durable store against the memory store, 64 connections"""
    program, message = compile_c("load.c", bench.folder, "load"), request("GET", PROFILE, "*")
    with on_disk(bench, watched=False) as (ours, _), bench.ours() as memory:
        runs = bench.take_turns([
            lambda seconds, server=server, tokens=bench.tokens(server, 1000, f"{name}.tokens"):
                plain(server, program, message, 200, 64, seconds, bench.load_core, tokens)
            for name, server in (("durable", ours), ("memory", memory))])
    ours, memory = sides(runs)
    against(bench, "GET of a resident session, over the memory store: requests/s", ours, memory, 0.97)


def row_encrypted(bench):
    """durable PATCH with encryption_keys_file, against the same without, 64 connections"""
    keys = os.path.join(bench.folder, "keys")
    with open(keys, "w") as file:
        file.write(f"bench:{base64.b64encode(os.urandom(32)).decode()}\n")
    with on_disk(bench, words=["--set", f"encryption_keys_file={keys}"], watched=False) as (sealed, _), \
            on_disk(bench, watched=False) as (plainly, _):
        runs = bench.take_turns([
            patches(bench, server, 64, bench.tokens(server, 1000, f"{name}.tokens"))
            for name, server in (("sealed", sealed), ("plainly", plainly))])
    sealed, plainly = sides(runs)
    against(bench, "durable PATCH, 64 connections, encrypted, over the same in the clear: requests/s", sealed, plainly)


def row_cold(bench):
    """GET of sessions that must be loaded against resident ones, 2,000 a second"""
    count, residents, rate, few = bench.most_sessions, 10_000, 2_000, 500
    program, message = compile_c("load.c", bench.folder, "load"), request("GET", PROFILE, "*")
    path, tokens = stored(bench, count)
    some = taking(bench, tokens)
    words = [*LASTING, "--set", f"max_resident_bytes={residents * RESIDENT}"]
    with on_disk(bench, path, words) as (ours, counter):
        known = some(few, "resident.tokens")

        def load(seconds, tokens):
            return plain(ours, program, message, 200, 32, seconds, bench.load_core, tokens, rate)

        def resident(seconds):
            load(1, known)  # the cold ones of the turn before may have sent them away
            return counted(lambda seconds: load(seconds, known), counter)(seconds)

        def cold(seconds):
            # Sessions that nobody has asked for since the server started. As many as can be due, and one.
            return counted(lambda seconds: load(seconds, some(rate * seconds + 1, "cold.tokens")), counter)(seconds)

        for _ in range(2 * residents // rate):  # from then on each that comes sends one away
            cold(1)
        runs = bench.take_turns([resident, cold])
        # The file's pages leave the kernel's cache, but for those that are not on the disk yet.
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        from_disk = cold(bench.seconds)
    warm, loaded = sides(runs)
    if loaded["reads"] < 1 or warm["reads"] > 0.1:
        raise Failed(f"{loaded['reads']:.2f} reads of the file for a GET that was to load its session, "
                     f"{warm['reads']:.2f} for one that was not to")
    beyond = (loaded["p99"] - warm["p99"]) / 1000
    bench.add(f"GET at {rate:,}/s, {count:,} stored, loaded and resident: p50, µs", number(loaded["p50"]),
              number(warm["p50"]))
    bench.add("  p99, µs", number(loaded["p99"]), number(warm["p99"]))
    bench.add("  p99 beyond the resident one's, ms", f"{beyond:.2f}", target="≤ 2", met=beyond <= 2)
    bench.add("  server CPU per request, µs", f"{loaded['cpu']:.2f}", f"{warm['cpu']:.2f}",
              loaded.over(warm, "cpu"))
    bench.notes.append(f"loaded sessions: {loaded['reads']:.1f} reads of the file each, from the kernel's cache; after "
                       f"that was emptied, p50 {number(from_disk['p50'])} and p99 {number(from_disk['p99'])} µs")


def row_killed(bench):
    """ready again after SIGKILL in the middle of writes, 1,000,000 sessions stored"""
    count, turns = bench.most_sessions, 3 if bench.options.quick else 7
    path, tokens = stored(bench, count)
    some = random.Random(3).sample(tokens, 2000)
    list, times, logs = write_tokens(os.path.join(bench.folder, "killed.tokens"), some), [], []
    for turn in range(turns):
        with bench.ours(store=f"sqlite:{path}", words=LASTING) as server:
            command, environment = wrk_command(server, "patch", 64, 30)
            load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env={**environment, "TOKENS": list}, preexec_fn=on_core(bench.load_core))
            try:
                time.sleep(0.7 + turn / 10)
                if server.process.poll() is not None:
                    raise Failed(f"the server ended by itself: {server.last_words()}")
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
            finally:
                load.kill()
                load.wait()
        logs.append(os.path.getsize(path + "-wal") / MIB)
        server = bench.ours(store=f"sqlite:{path}", words=LASTING, port=(port := free_port()))
        try:
            times.append(server.first_answers(port, READY, request("GET", PROFILE, some[turn])))
        finally:
            server.__exit__()
    if min(logs) == 0:
        raise Failed("a server was killed before it had written anything")
    ready, found = (statistics.median(side) for side in zip(*times))
    full = count == 1_000_000
    bench.add(f"ready after SIGKILL, {count:,} sessions stored, s", f"{ready:.3f}", target="≤ 1" if full else "",
              met=ready <= 1 if full else None)
    bench.add("  the first GET of a stored session, s", f"{found:.3f}")
    bench.notes.append(f"after SIGKILL: the slowest of {turns} was ready after {max(times)[0]:.3f} s; the logs that "
                       f"were left had {min(logs):.0f} to {max(logs):.0f} MiB")


def row_stored(bench):
    """resident memory with 10,000,000 stored sessions, 100,000 of them in memory"""
    count, residents = 2_000_000 if bench.options.quick else 10_000_000, 100_000
    program = compile_c("load.c", bench.folder, "load")
    path, tokens = stored(bench, count)
    tokens = random.Random(4).sample(tokens, len(tokens))
    words = [*LASTING, "--set", f"max_resident_bytes={residents * RESIDENT}"]
    server = bench.ours(store=f"sqlite:{path}", words=words, port=(port := free_port()))
    try:
        ready, found = server.first_answers(port, READY, request("GET", PROFILE, tokens[0]))
        empty, asked = server.resident(), 0
        list = os.path.join(bench.folder, "stored.tokens")
        while asked < 2 * residents:
            if asked == len(tokens):
                raise Failed("there are too few sessions to fill the memory with")
            with open(list, "w") as file:
                file.writelines(token + "\n" for token in tokens[asked:])
            result = plain(server, program, request("GET", PROFILE, "*"), 200, 64, 8, bench.load_core, list)
            asked = min(asked + result["requests"], len(tokens))
        # The writer has a cache of its own, which writes fill.
        result = wrk(server, "patch", 64, 4, bench.load_core, TOKENS=write_tokens(list, tokens[:50_000]))
        resident, anonymous = server.resident(), server.memory("Anonymous")
        with open(f"/proc/{server.pid}/maps") as maps:
            is_mapped = any(line.rstrip().endswith(path) for line in maps)
    finally:
        server.__exit__()
    full = count == 10_000_000
    bench.add(f"memory, {count:,} sessions stored, {residents:,} of them resident, MiB", f"{resident / MIB:.1f}",
              target="≤ 256" if full else "", met=resident <= 256 * MIB if full else None)
    bench.add("  of that before the first request, MiB", f"{empty / MIB:.1f}")
    bench.notes.append(f"{count:,} stored sessions: {os.path.getsize(path) / MIB:,.0f} MiB on the disk; ready "
                       f"{ready:.3f} s after the start, the first GET at {found:.3f} s; {asked:,} different ones were "
                       f"asked for and {result['requests']:,} PATCHes made before memory was read, of which "
                       f"{anonymous / MIB:.1f} MiB belong to no file; the database is "
                       f"{'mapped' if is_mapped else 'not mapped'} into memory")
    if path != bench.databases.get(bench.most_sessions, ("",))[0]:
        forget(bench, count)


# What is sent


def patches(bench, server, connections, tokens):
    return lambda seconds: wrk(server, "patch", connections, seconds, bench.load_core, TOKENS=tokens)


def sets(bench, server, keys, state):
    """The least that a service on webdis and Redis would do: the whole of a state as long as ours, under its key."""
    state = re.sub(r'"name":"[^"]*"', '"name":"*"', state)
    return lambda seconds: wrk(server, "webdis", 64, seconds, bench.load_core, KEYS=str(keys), STATE=state)


class Nobody:
    """The server of a load that needs none, and has its core."""

    def __init__(self, core):
        self.core = core

    def cpu(self):
        return 0

    def trim_log(self):
        pass


def syncs(bench, program):
    command = [program, os.path.join(bench.folder, "sync.dat"), str(COMMIT_BYTES)]
    core = bench.server_core
    return lambda seconds: measured(Nobody(core), [*command, str(seconds)], seconds, core, {})


def counted(load, counter):
    """The same load, with what the server did to its disk meanwhile."""

    def run(seconds):
        before = counter.read()
        result = load(seconds)
        syncs, time, written, reads = (after - before for after, before in zip(counter.read(), before))
        result["syncs"] = syncs / (result["duration"] / 1e6)
        result["sync_time"] = time / max(syncs, 1) / 1000
        result["commits"] = result["requests"] / max(syncs, 1)
        result["written"] = written / max(syncs, 1)
        result["reads"] = reads / result["requests"]
        return result

    return run


# What comes of it


def against(bench, title, ours, other, target=None, latency=True):
    """The lines of a load of ours beside another that is no bare server."""
    ratio = ours.over(other, "rate")
    bench.add(title, number(ours["rate"]), number(other["rate"]), ratio, f"≥ {target:.2f}" if target else "",
              ratio >= target if target else None)
    if latency:
        bench.add("  server CPU per request, µs", f"{ours['cpu']:.2f}", f"{other['cpu']:.2f}",
                  ours.over(other, "cpu"))
        for key in ("p50", "p99"):
            bench.add(f"  {key}, µs", number(ours[key]), number(other[key]), ours.over(other, key))


def add_disk(bench, result):
    bench.add("  syncs/s", number(result["syncs"]))
    bench.add("  PATCHes a sync", f"{result['commits']:.1f}")
    bench.add("  KiB written a sync", f"{result['written'] / 1024:.1f}")


def note_disk(bench):
    kind = subprocess.run(["stat", "-f", "-c", "%T", bench.folder], stdout=subprocess.PIPE, text=True, check=True)
    kind = kind.stdout.strip()
    said = ", which is memory: figures with syncs say nothing of a disk; TMPDIR names another folder"
    bench.notes.append(f"database files are in {os.path.dirname(bench.folder)}, on {kind}"
                       f"{said if kind in ('tmpfs', 'ramfs') else ''}")


# Where it is stored


@contextlib.contextmanager
def on_disk(bench, path=None, words=(), watched=True, program=None):
    """Our server on a database file, a new one unless it is given, and the counter of what it does to its disk."""
    with contextlib.ExitStack() as stack:
        if path is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="database-", dir=bench.folder))
            path = os.path.join(folder, "sessions.db")
        counter = None
        if watched:
            counter = DiskCounter(compile_c("disk.c", bench.folder, "disk.so", "-shared", "-fPIC"), bench.folder)
        server = bench.ours(counter and counter.environment, words=words, store=f"sqlite:{path}",
                            program=program)
        yield stack.enter_context(server), counter


def stored(bench, count):
    """A database file with so many sessions with a profile, and the tokens of many of them; made once."""
    if count not in bench.databases:
        folder, started = tempfile.mkdtemp(prefix="stored-", dir=bench.folder), time.monotonic()
        path, by_requests = os.path.join(folder, "sessions.db"), count <= MOST_BY_REQUESTS
        with bench.ours(store=f"sqlite:{path}", words=LASTING) as server:
            tokens = fill(server, 0, count if by_requests else 1, 600)
        if not by_requests:
            tokens = multiply(path, tokens[0], count, KNOWN_TOKENS)
        with bench.ours(store=f"sqlite:{path}", words=LASTING) as server:
            for token in (tokens[0], tokens[-1], random.choice(tokens)):
                status, _, body = server.ask(request("GET", PROFILE, token))
                if status != 200 or b"Ada Lovelace" not in body:
                    raise Failed(f"a session that was put into the file is answered with {status}: {body[:200]}")
        bench.databases[count] = path, tokens
        bench.notes.append(f"{count:,} sessions were {'made by requests' if by_requests else 'put into a file'} in "
                           f"{time.monotonic() - started:.0f} s")
    return bench.databases[count]


def taking(bench, tokens):
    """A function that writes a file of so many of the tokens, drawn at random, that none of its files had before."""
    tokens = iter(random.Random(2).sample(tokens, len(tokens)))

    def some(number, name):
        taken = list(itertools.islice(tokens, number))
        if len(taken) < number:
            raise Failed("there are too few sessions for so many turns")
        return write_tokens(os.path.join(bench.folder, name), taken)

    return some


def forget(bench, count):
    path, _ = bench.databases.pop(count)
    shutil.rmtree(os.path.dirname(path))
