#!/usr/bin/env python3
"""What a Redis of several Concierge servers holds and does: bytes a session, processor time and log a request.

python3 Benchmarks/shard.py [--sessions 100000] [--seconds 10] [--server .build/release/concierge]

One server and one Redis with `appendfsync always`, each on all cores; `load.c` asks for sessions in a random order,
on 64 connections, whose requests travel to Redis together, and on one, where each travels alone, as it does when
there are many shards. At the end nobody asks, and the server looks for expired sessions. Requests/s are those of all three
together on this machine. Processor time is what /proc says of each process, so it depends less on what else runs. A sync is that of a file with what one PATCH adds to the log,
in the folder for temporary files (TMPDIR), where Redis has its log, too."""

import argparse
import glob
import itertools
import json
import os
import random
import re
import socket
import statistics
import tempfile
import time

from load import PROFILE, fill, plain, request, write_tokens
from measuring import HERE, compile_c
from server import Failed, Server, free_port
from webdis import Listener

SERVICE = "/v1/sessions/current/services"
JOURNEY = "/v1/sessions/current/journeys/main"


class Redis:
    """A connection that asks for one thing at a time."""

    def __init__(self, port):
        self.file = socket.create_connection(("127.0.0.1", port), timeout=60).makefile("rwb")

    def ask(self, *words):
        self.file.write(b"*%d\r\n" % len(words))
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            self.file.write(b"$%d\r\n%s\r\n" % (len(word), word))
        self.file.flush()
        return self.reply()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Failed(f"Redis: {rest.decode()}")
        if kind in b"+:":
            return rest if kind == b"+" else int(rest)
        if int(rest) < 0:
            return None
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2]
        return [self.reply() for _ in range(int(rest))]

    def memory(self):
        return int(dict(line.split(b":", 1) for line in self.ask("INFO", "memory").splitlines() if b":" in line)
                   [b"used_memory"])

    def sessions(self, count):
        """The keys of so many sessions, as SCAN finds them."""
        cursor, keys = b"0", []
        while True:
            cursor, some = self.ask("SCAN", cursor, "TYPE", "hash", "COUNT", 1000)
            keys += [key for key in some if key.startswith(b"cg:{ses_")]
            if cursor == b"0" or len(keys) >= count:
                return keys[:count]


def profile(token, number):
    document = {"name": f"Ada Lovelace {number}", "email": f"ada.{number}@example.org", "locale": "en-GB",
                "attributes": {"theme": "dark", "newsletter": True, "last_seen": "2026-11-24T12:00:00Z"}}
    return request("PATCH", PROFILE, token, json.dumps(document))


def basket(token, number):
    items = [{"sku": f"sku-{number}-{place}", "title": f"An article with a name of usual length {place}",
              "quantity": 1 + place % 3, "price": "19.90"} for place in range(4)]
    return request("PUT", f"{SERVICE}/temporary-profile", token,
                   json.dumps({"name": "", "email": None, "locale": None, "attributes": {"items": items}}),
                   kind="application/json")


def journey(token, number):
    return request("GET", JOURNEY, token)


KINDS = [("created, nothing written", ()), ("a profile of 190 bytes", ((profile, 200),)),
         ("that, 420 bytes in a second service, and a journey", ((profile, 200), (basket, 200), (journey, 200)))]


def sync_time(folder, size=335, count=300):
    """Median and 99th percentile of so many, in microseconds."""
    times = []
    with open(os.path.join(folder, "synced"), "wb", buffering=0) as file:
        for _ in range(count):
            file.write(bytes(size))
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - start) * 1e6)
    times.sort()
    return times[count // 2], times[count * 99 // 100]


def log_bytes(folder):
    return sum(map(os.path.getsize, glob.glob(f"{folder}/**/*.aof", recursive=True)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--server", default=os.path.join(os.path.dirname(HERE), ".build/release/concierge"))
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="concierge-shard-") as folder:
        load = compile_c("load.c", folder, "load", "-lpthread", "-lm")
        port = free_port()
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes",
                   "--appendfsync", "always", "--save", "", "--auto-aof-rewrite-percentage", "0"]
        with Listener(command, cores[0], port, cores) as redis:
            ask = Redis(port)
            words = [options.server, "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--store",
                     f"redis://127.0.0.1:{port}", "--set", "max_sessions=100000000", "--set", "log.requests=false",
                     "--set", "main_flow=wizard", "--set", "expired_retention=0s",
                     "--flows", os.path.join(os.path.dirname(HERE), "config/flows"),
                     "--services", os.path.join(os.path.dirname(HERE), "config/services")]
            print(f"{options.sessions:,} sessions")
            print("| a session | bytes in Redis | of them its own key | bytes in the log |")
            with Server(words, cores[0], cores=cores) as server:
                for name, steps in KINDS:
                    ask.ask("FLUSHALL")
                    before, log = ask.memory(), log_bytes(folder)
                    tokens = fill(server, 0, options.sessions, 1200, steps)
                    each = (ask.memory() - before) / options.sessions
                    keys = random.Random(1).sample(ask.sessions(options.sessions), min(1000, options.sessions))
                    own = statistics.mean(ask.ask("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys)
                    print(f"| {name} | {each:.0f} | {own:.0f} | {(log_bytes(folder) - log) / options.sessions:.0f} |",
                          flush=True)
                path = write_tokens(os.path.join(folder, "tokens"), tokens)
                print("| request | connections | requests/s | µs of the server | µs of Redis | bytes in the log |")
                asked = {"GET profile": request("GET", PROFILE, "*"),
                         "PATCH profile": request("PATCH", PROFILE, "*", '{"name":"Ada L."}')}
                # At first sessions are loaded.
                plain(server, load, asked["GET profile"], 200, 64, options.seconds, cores[-1], tokens=path)
                for connections, (name, message) in itertools.product((64, 1), asked.items()):
                    used, log = redis.cpu(), log_bytes(folder)
                    run = plain(server, load, message, 200, connections, options.seconds, cores[-1], tokens=path)
                    count = run["requests"]
                    of_redis, logged = (redis.cpu() - used) / count * 1e6, (log_bytes(folder) - log) / count
                    print(f"| {name} | {connections} | {run['rate']:.0f} | {run['cpu']:.0f} | {of_redis:.0f} | "
                          f"{logged:.0f} |", flush=True)
                # Nobody asks: the server looks for expired sessions.
                ask.ask("CONFIG", "RESETSTAT")
                used = redis.cpu(), server.cpu()
                time.sleep(3 * options.seconds)
                of_redis, own = redis.cpu() - used[0], server.cpu() - used[1]
                looked = int(re.search(rb"cmdstat_hmget:calls=(\d+)", ask.ask("INFO", "commandstats"))[1])
                print(f"To look at a session takes the server {own / looked * 1e6:.0f} µs and Redis "
                      f"{of_redis / looked * 1e6:.0f} µs ({looked:,} were looked at).")
                print("A sync takes {:.0f} µs, one in a hundred {:.0f} µs.".format(*sync_time(folder)))


if __name__ == "__main__":
    main()
