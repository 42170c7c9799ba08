"""The row of one client that sends the worst requests it can, as fast as it can; as a program, that client."""

import json
import os
import socket
import statistics
import subprocess
import sys
import time

from load import PROFILE, fill, request
from measuring import number
from spread import loading

RATE = 2000


def row_attack(bench):
    """GETs beside one client that sends large requests without a pause; two workers on both cores, as the load"""
    kind = "application/json"
    bodies = {
        "1 MB of JSON that is no profile": ("PUT", json.dumps([[place, {"b": []}] for place in range(58_000)]), kind),
        "1 MB that is no JSON": ("PUT", '{"a":"' + "\\n" * 500_000, kind),
        "60 kB that are taken": (
            "PATCH", json.dumps({"attributes": {f"a{place}": "v" * 20 for place in range(1_900)}}),
            "application/merge-patch+json"),
    }
    both = {bench.server_core, bench.load_core}
    with bench.ours(words=["--workers", "2"]) as server:
        for thread in os.listdir(f"/proc/{server.pid}/task"):
            os.sched_setaffinity(int(thread), both)
        good, other = fill(server, 0, 2, 30)
        load = loading(bench, server, request("GET", PROFILE, good), rate=RATE)

        def p99():
            return statistics.median(promptly(load, bench.seconds)["p99"] for _ in range(bench.runs))

        load(1)
        without = p99()
        for name, (method, body, kind) in bodies.items():
            path = os.path.join(bench.folder, "attack")
            with open(path, "wb") as file:
                file.write(request(method, PROFILE, other, body, kind=kind))
            with subprocess.Popen([sys.executable, __file__, str(server.port), path]) as attacker:
                try:
                    time.sleep(0.3)
                    beside = p99()
                finally:
                    attacker.terminate()
            bench.add(f"GET at {RATE:,}/s beside {name}, again and again: p99, µs", number(beside), number(without),
                      beside / without, "≤ 2", beside <= 2 * without)


def promptly(load, seconds):
    """Runs a load before all else, where that is allowed: its own waiting for a core is not the server's."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except PermissionError:
        return load(seconds)
    try:
        return load(seconds)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def attack(port, message):
    """Sends the message and reads its response, until the process is ended."""
    connection = None
    while True:
        try:
            connection = connection or socket.create_connection(("127.0.0.1", port))
            connection.sendall(message)
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
