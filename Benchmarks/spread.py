"""Rows of the durable store as it is used: many sessions, writes all over the file, what reaches the disk."""

import os
import shutil
import tempfile

from durable import LASTING, MIB, RESIDENT, add_disk, against, counted, note_disk, on_disk, stored, taking
from load import PROFILE, fill, plain, request, write_tokens
from measuring import compile_c, number, sides
from webdis import Webdis

# Marks of load.c: another session drawn at random, the next session of the list, another name each time.
RANDOM, NEXT, NAME = "~", "*", "########"


def row_spread(bench):
    """durable PATCH, random over 200,000 sessions, against webdis and Redis with as many keys"""
    note_disk(bench)
    device, count = bench.device, bench.spread
    path, tokens = stored(bench, count)
    with on_disk(bench, path) as (ours, counter), Webdis(bench.server_core, bench.folder) as webdis:
        state = ours.ask(patching(tokens[0]))[2].decode()
        tokens = token_file(bench, "spread.tokens", tokens)
        keys = token_file(bench, "spread.keys", webdis.fill(count, state))
        setting = request("PUT", f"/SET/session:{RANDOM}:profile", body=state)
        warm(bench, ours, tokens, count)
        runs = bench.take_turns([device.watch(counted(loading(bench, ours, patching(RANDOM), tokens), counter), ours),
                                 device.watch(loading(bench, webdis, setting, keys), webdis)], bench.long_seconds)
    ours, webdis = sides(runs)
    full = count == 200_000
    against(bench, f"durable PATCH, random over {count:,} sessions, over webdis and Redis: requests/s", ours, webdis,
            1.1 if full else None)
    kib = ours["to_disk"] / 1024
    bench.add("  KiB that reached the disk for each", f"{kib:.1f}", f"{webdis['to_disk'] / 1024:.1f}",
              ours.over(webdis, "to_disk"), "≤ 9" if full else "", kib <= 9 if full else None)
    add_disk(bench, ours)


def row_steady(bench):
    """durable PATCH at 5,000 a second, random over 200,000 sessions, for a minute"""
    rate, count, seconds = 5_000, bench.spread, 10 if bench.options.quick else 60
    path, tokens = stored(bench, count)
    tokens = token_file(bench, "steady.tokens", tokens)
    with on_disk(bench, path, watched=False) as (ours, _):
        warm(bench, ours, tokens, count)
        load = loading(bench, ours, patching(RANDOM), tokens, rate=rate)
        load(5)
        (result,) = bench.undisturbed(lambda: (load(seconds),))
    full = count == 200_000
    bench.add(f"durable PATCH at {rate:,}/s for {seconds} s, random over {count:,} sessions: p50, ms",
              milliseconds(result["p50"]))
    for title, key, most in (("p99", "p99", 6), ("p99.9", "p999", 15), ("the worst", "worst", None)):
        aimed = full and most is not None
        bench.add(f"  {title}, ms", milliseconds(result[key]), target=f"≤ {most}" if aimed else "",
                  met=result[key] <= most * 1000 if aimed else None)
    bench.add("  server CPU per request, µs", f"{result['cpu']:.2f}")


def row_million(bench):
    """durable PATCH, random over 1,000,000 sessions, against random over 1,000"""
    many, few = bench.most_sessions, 1000
    path, tokens = stored(bench, many)
    tokens = token_file(bench, "million.tokens", tokens)
    with on_disk(bench, path, watched=False) as (large, _), on_disk(bench, watched=False) as (small, _):
        warm(bench, large, tokens, many)
        runs = bench.take_turns([loading(bench, large, patching(RANDOM), tokens),
                                 loading(bench, small, patching(RANDOM), bench.tokens(small, few, "few.tokens"))],
                                bench.long_seconds)
    of_many, of_few = sides(runs)
    against(bench, f"durable PATCH, random over {many:,} sessions, over {few:,}: requests/s", of_many, of_few,
            0.55 if many == 1_000_000 else None)


def row_creates(bench):
    """durable creates with 1,000,000 sessions stored, against the first 100,000 of a new file"""
    count = bench.most_sessions
    each, message = count // 10, request("POST", "/v1/sessions")
    path, _ = stored(bench, count)

    def first():
        with on_disk(bench, words=LASTING, watched=False) as (server, _):
            return loading(bench, server, message, status=201, requests=each)(60)

    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        # Other rows want the file as it is.
        path = os.path.join(shutil.copytree(os.path.dirname(path), os.path.join(folder, "copy")), "sessions.db")
        os.sync()
        with on_disk(bench, path, LASTING, watched=False) as (full, _):
            later = loading(bench, full, message, status=201, requests=each)
            runs = [bench.undisturbed(lambda: (later(60), first())) for _ in range(3 if bench.options.quick else 5)]
    later, first = sides(runs)
    against(bench, f"durable create, {count:,} stored, over the first {each:,}: requests/s", later, first,
            0.85 if count == 1_000_000 else None)


def row_coldpatch(bench):
    """durable PATCH of sessions that must be loaded, 2,000 a second, 1,000,000 stored"""
    count, residents, rate = bench.most_sessions, 10_000, 2_000
    path, tokens = stored(bench, count)
    some = taking(bench, tokens)

    def cold(seconds):
        # As many as can be due, and one.
        tokens = some(rate * seconds + 1, "coldpatch.tokens")
        return loading(bench, ours, patching(NEXT), tokens, connections=32, rate=rate)(seconds)

    with on_disk(bench, path, ["--set", f"max_resident_bytes={residents * RESIDENT}"], watched=False) as (ours, _):
        cold(2 * residents // rate)  # from then on each that comes sends one away
        (result,) = sides(bench.take_turns([cold], bench.long_seconds))
    full = count == 1_000_000
    bench.add(f"durable PATCH at {rate:,}/s, {count:,} stored, loaded: p50, ms", milliseconds(result["p50"]))
    bench.add("  p99, ms", milliseconds(result["p99"]), target="≤ 20" if full else "",
              met=result["p99"] <= 20_000 if full else None)
    bench.add("  the worst of all turns, ms", milliseconds(max(turn["worst"] for turn in result.results)))
    bench.add("  server CPU per request, µs", f"{result['cpu']:.2f}")


def row_hot(bench):
    """durable PATCH, random over 1,000 sessions, against the program that --against names"""
    if not bench.options.against:
        bench.notes.append("hot: not measured; --against names the program to compare with")
        return
    with on_disk(bench, watched=False) as (ours, _), \
            on_disk(bench, watched=False, program=bench.options.against) as (before, _):
        runs = bench.take_turns([
            loading(bench, server, patching(RANDOM), bench.tokens(server, 1000, f"{name}.tokens"))
            for name, server in (("ours", ours), ("before", before))], bench.long_seconds)
    ours, before = sides(runs)
    against(bench, "durable PATCH, random over 1,000 sessions, over the other program: requests/s", ours, before, 0.9)


def row_onesession(bench):
    """durable PATCH of one session, 64 connections"""
    with on_disk(bench) as (ours, counter):
        load = loading(bench, ours, patching(NEXT), bench.tokens(ours, 1, "one.tokens"))
        (result,) = sides(bench.take_turns([counted(load, counter)]))
    bench.add("durable PATCH of one session, 64 connections: requests/s", number(result["rate"]), target="≥ 10,000",
              met=result["rate"] >= 10_000)
    bench.add("  server CPU per request, µs", f"{result['cpu']:.2f}")
    for key in ("p50", "p99"):
        bench.add(f"  {key}, µs", number(result[key]))
    add_disk(bench, result)


def row_uses(bench):
    """what GETs of 90,000 resident sessions write to the disk"""
    device, count = bench.device, 9_000 if bench.options.quick else 90_000
    with on_disk(bench, watched=False) as (ours, _):
        load = loading(bench, ours, request("GET", PROFILE, RANDOM), bench.tokens(ours, count, "uses.tokens"))
        load(1)
        seconds = 20 if bench.options.quick else 100
        (result,) = bench.undisturbed(lambda: (device.watch(load, ours)(seconds),))
    mib, full = result["to_disk_rate"] / MIB, not bench.options.quick
    bench.add(f"GET, random over {count:,} resident sessions, for {seconds} s: MiB/s to the disk", f"{mib:.1f}",
              target="≤ 8" if full else "", met=mib <= 8 if full else None)
    bench.add("  requests/s", number(result["rate"]))
    bench.add("  p99, µs", number(result["p99"]))


# What is sent


def patching(token):
    return request("PATCH", PROFILE, token, f'{{"name":"{NAME}"}}')


def loading(bench, server, message, tokens=None, connections=64, status=200, rate=None, requests=None):
    """A load of load.c, as a function of seconds."""
    program = compile_c("load.c", bench.folder, "load")
    return lambda seconds: plain(server, program, message, status, connections, seconds, bench.load_core, tokens, rate,
                                 requests)


def token_file(bench, name, tokens):
    return write_tokens(os.path.join(bench.folder, name), tokens)


def warm(bench, server, tokens, count):
    """Asks for each session: what is measured has been at work for a while."""
    loading(bench, server, request("GET", PROFILE, NEXT), tokens, requests=count)(60)


def milliseconds(microseconds):
    return f"{microseconds / 1000:.1f}"
