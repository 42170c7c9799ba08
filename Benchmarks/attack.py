"""The row of one client that sends the worst requests it can, as fast as it can; as a program, that client."""

import contextlib
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time

from load import PROFILE, fill, request
from measuring import compile_c, number
from server import Failed, on_core

RATE = 2000
PIECE = 16_384
MOST = 131_072  # bytes of a body, as `limits.body_bytes` has them


def row_attack(bench):
    """GETs beside one client that sends large requests without a pause; two workers on both cores, as the load"""
    kind = "application/json"
    values = json.dumps([[place, {"b": []}] for place in range(MOST // 20)])
    bodies = {
        f"{MOST:,} bytes of JSON that is no profile": ("PUT", values + " " * (MOST - len(values)), kind, 400),
        f"{MOST:,} bytes that are no JSON": ("PUT", '{"a":"' + "\\n" * (MOST // 2 - 3), kind, 400),
        "60 kB that are taken": (
            "PATCH", json.dumps({"attributes": {"a": {f"a{place}": "v" * 20 for place in range(1_900)}}}),
            "application/merge-patch+json", 200),
        "a few bytes for a state of 60 kB": ("PATCH", '{"name": "Ada"}', "application/merge-patch+json", 200),
    }
    both = {bench.server_core, bench.load_core}
    with bench.ours(words=["--workers", "2"]) as server:
        for thread in os.listdir(f"/proc/{server.pid}/task"):
            os.sched_setaffinity(int(thread), both)
        good, other = fill(server, 0, 2, 30)
        program, message = compile_c("load.c", bench.folder, "load"), request("GET", PROFILE, good)

        def p99():
            return statistics.median(run(program, server, message, bench.seconds, both) for _ in range(bench.runs))

        run(program, server, message, 1, both)
        without = p99()
        for name, (method, body, kind, expected) in bodies.items():
            path, worst = os.path.join(bench.folder, "attack"), request(method, PROFILE, other, body, kind=kind)
            if (status := server.ask(worst)[0]) != expected:
                raise Failed(f"{name}: {status}")
            with open(path, "wb") as file:
                file.write(worst)
            with subprocess.Popen([sys.executable, __file__, str(server.port), path]) as attacker:
                try:
                    time.sleep(0.3)
                    beside = p99()
                finally:
                    attacker.terminate()
            bench.add(f"GET at {RATE:,}/s beside {name}, again and again: p99, µs", number(beside), number(without),
                      beside / without, "≤ 2", beside <= 2 * without)


def run(program, server, message, seconds, cores):
    """The p99 of a load that runs before all else, where that is allowed: its own waiting for a core is not the
    server's."""
    command = [program, "-r", str(RATE), str(server.port), "64", str(seconds), "200"]
    place = on_core(*cores)

    def prepare():
        place()
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))

    output = subprocess.run(command, input=message, stdout=subprocess.PIPE, preexec_fn=prepare, timeout=seconds + 30).stdout
    return json.loads(re.search(r"RESULT (.*)", output.decode()).group(1))["p99"]


def attack(port, message):
    """Sends the message and reads its response, until the process is ended."""
    connection = None
    while True:
        try:
            connection = connection or socket.create_connection(("127.0.0.1", port))
            # A kernel that does not interrupt its own work would keep a core for all of it, and the server waiting.
            for start in range(0, len(message), PIECE):
                connection.sendall(message[start : start + PIECE])
            response = b""
            while b"\r\n\r\n" not in response:
                piece = connection.recv(65_536)
                if not piece:
                    raise OSError
                response += piece
            head, _, rest = response.partition(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            missing = int(fields.get(b"content-length", 0)) - len(rest)
            while missing > 0:
                missing -= len(connection.recv(min(missing, 65_536)) or b"x" * missing)
            if fields.get(b"connection") == b"close":
                connection.close()
                connection = None
        except OSError:
            connection = None


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        attack(int(sys.argv[1]), file.read())
