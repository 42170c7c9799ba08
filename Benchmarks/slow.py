"""The row of clients that hold the server up, see slow.c."""

import json
import re
import signal
import statistics
import subprocess

from attack import RATE, run
from load import PROFILE, fill, request
from measuring import compile_c, expect, number
from server import Failed, on_core

MIB = 1024 * 1024
DEADLINE = 10  # seconds, of every phase
BODY = 1_000_000
SETTINGS = ["limits.body_bytes=1MiB", "limits.document_bytes=1MiB", *(f"timeouts.{phase}={DEADLINE}s" for phase in ("header", "body", "write", "idle"))]


def row_slow(bench):
    """GETs beside 10,000 clients that send or read a byte in two seconds"""
    count = 1000 if bench.options.quick else 10_000
    with bench.ours() as server:
        tokens = fill(server, 0, 1, 30)
        without = p99(bench, server, tokens[0])
    for name, how, beginning in (
            ("heads", "send", lambda _: b"GET /v1/flows HTTP/1.1\r\nHost: h\r\nA: "),
            ("bodies", "send", lambda token: upload(token)[:-BODY]),
            ("responses", "take", lambda token: request("GET", PROFILE, token))):
        with bench.ours(words=[word for setting in SETTINGS for word in ("--set", setting)]) as server:
            good, other = fill(server, 0, 2, 30)
            expect(server.ask(upload(other))[0], 200, "PATCH profile")
            with SlowClients(bench, server, count, how, beginning(other)) as slow:
                beside = p99(bench, server, good)
                resident, kernel = server.resident() / MIB, kernel_memory() / MIB
                result = slow.end()
        line(bench, f"GET at {RATE:,}/s beside {count:,} slow {name}", beside, without, resident, kernel, result)


def line(bench, title, beside, without, resident, kernel, result):
    bench.add(f"{title}: p99, µs", number(beside), number(without), beside / without, "≤ 2, 10 ms",
              beside <= min(2 * without, 10_000))
    bench.add("  memory of the server, of the kernel for both ends, MiB", f"{resident:.0f}, {kernel:.0f}")
    longest = result["longest_ms"] / 1000
    bench.add("  the longest connection of a slow client, s", f"{longest:.1f}", "", None, f"≤ {DEADLINE + 1}",
              longest <= DEADLINE + 1)


def p99(bench, server, token):
    """Of GETs whose load does not wait for the slow clients, which are on its core."""
    program, message = compile_c("load.c", bench.folder, "load"), request("GET", PROFILE, token)
    return statistics.median(
        run(program, server, message, bench.seconds, {bench.load_core}) for _ in range(bench.runs))


def upload(token):
    """A PATCH with a body of so many bytes."""
    frame = '{"attributes":{"a":""}}'
    return request("PATCH", PROFILE, token, frame.replace('""', f'"{"a" * (BODY - len(frame))}"'))


def kernel_memory():
    """Bytes of all sockets of the machine, which are mostly ours."""
    with open("/proc/net/sockstat") as sockets:
        return int(re.search(r"TCP: .* mem (\d+)", sockets.read()).group(1)) * 4096


class SlowClients:
    """slow.c, with its clients connected, for the length of a `with`."""

    def __init__(self, bench, server, count, how, beginning):
        self.command = [compile_c("slow.c", bench.folder, "slow"), str(server.port), str(count), how]
        self.core, self.beginning = bench.load_core, beginning

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=on_core(self.core))
        self.process.stdin.write(self.beginning)
        self.process.stdin.close()
        if self.process.stdout.readline() != b"open\n":
            self.__exit__()
            raise Failed("the slow clients could not connect")
        return self

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
