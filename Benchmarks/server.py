"""Servers under test: started on one core, watched through /proc, always ended."""

import ctypes
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import time

from log import Log

TICK = os.sysconf("SC_CLK_TCK")
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """Something that makes a figure impossible; its text is printed in the figure's place."""


def on_core(*cores):
    """What a child does before it becomes its program: takes its core, and dies when this driver dies."""

    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setaffinity(0, cores)

    return prepare


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running server. Used with `with`, so that it ends whatever happens."""

    def __init__(self, command, core, environment=None, cores=None, folder=None):
        self.command = command
        self.folder = folder
        self.core = core
        self.cores = cores or {core}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("CONCIERGE_")}
        self.environment.update(environment or {})
        self.log = None

    def spawn(self):
        self.log = self.log or Log(self.command[0])
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self.log.descriptor, stderr=self.log.descriptor,
            env=self.environment, cwd=self.folder, preexec_fn=on_core(*self.cores))
        self.pid = self.process.pid

    def __enter__(self):
        self.spawn()
        try:
            self.port = self.listening_port(time.monotonic() + 20)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.give_back()

    def listening_port(self, deadline):
        """Waits for the log line that names the addresses."""
        while time.monotonic() < deadline:
            for line in self.log.first(65536).splitlines(keepends=True):
                if b'"listening"' in line and line.endswith(b"\n"):
                    return int(json.loads(line)["public"].rsplit(":", 1)[1])
            if self.process.poll() is not None:
                raise Failed(f"the server ended with status {self.process.returncode}: {self.last_words()}")
            time.sleep(0.002)
        raise Failed("the server did not say within 20 s that it listens")

    def first_answers(self, port, *messages):
        """Starts the server, which was told this port, and asks for each of these until it is answered 200: the seconds
        from just before it was spawned."""
        self.port, times = port, []
        self.log = self.log or Log(self.command[0])
        started = time.monotonic()
        self.spawn()
        for message in messages:
            while True:
                if time.monotonic() - started > 20:
                    raise Failed("it did not answer 200 within 20 s")
                try:
                    if self.ask(message)[0] == 200:
                        times.append(time.monotonic() - started)
                        break
                except (OSError, Failed):
                    pass
                if self.process.poll() is not None:
                    raise Failed(f"it ended with status {self.process.returncode}: {self.last_words()}")
                time.sleep(0.0005)
        return times

    def last_words(self):
        return self.log.first(2000).decode(errors="replace").strip()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def trim_log(self):
        self.log.rewind()

    def cpu(self):
        """Seconds of processor time so far, of all threads, user and system."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    @property
    def processes(self):
        return (self.pid,)

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def resident(self):
        """Resident bytes."""
        return self.memory("Rss")

    def memory(self, kind):
        """Bytes of one of the kinds of memory that the kernel tells apart, such as Rss or Anonymous."""
        with open(f"/proc/{self.pid}/smaps_rollup") as rollup:
            return int(re.search(rf"^{kind}:\s+(\d+) kB", rollup.read(), re.M).group(1)) * 1024

    def ask(self, request):
        """One request on a connection of its own: status, header text, body."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(request)
            return read_answer(connection)


def read_answer(connection):
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        if not (more := connection.recv(65536)):
            raise Failed("the server closed a connection without an answer")
        data += more
    head, body = data[:end].decode("latin-1"), data[end + 4 :]
    status = int(head.split(" ", 2)[1])
    length = re.search(r"(?im)^content-length: *(\d+)", head)
    while length and status != 304 and len(body) < int(length.group(1)):
        if not (more := connection.recv(65536)):
            raise Failed("the server closed a connection in the middle of an answer")
        body += more
    return status, head, body


class Counters:
    """Numbers that a preloaded library of C keeps inside a process, read from outside."""

    def __init__(self, library, folder, variable, count):
        self.size = 8 * count
        path = os.path.join(folder, f"{variable}-{id(self):x}.count")
        with open(path, "wb") as file:
            file.write(bytes(self.size))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), self.size)
        self.environment = {"LD_PRELOAD": library, variable: path}

    def read(self):
        """Their values since the process started."""
        return struct.unpack(f"{self.size // 8}Q", self.map[: self.size])


class AllocationCounter(Counters):
    """What allocations.c counts: calls and bytes."""

    def __init__(self, library, folder):
        super().__init__(library, folder, "ALLOCATION_COUNTS", 2)


class DiskCounter(Counters):
    """What disk.c counts: syncs, the nanoseconds that they took, bytes written, reads."""

    def __init__(self, library, folder):
        super().__init__(library, folder, "DISK_COUNTS", 4)


class SystemCalls:
    """strace attached to a server for the length of a `with`; `counts` afterwards."""

    def __init__(self, server, folder):
        self.server = server
        self.report = os.path.join(folder, "strace.txt")
        self.counts = {}

    def __enter__(self):
        self.process = subprocess.Popen(
            ["strace", "-c", "-f", "-U", "calls,name", "-o", self.report, "-p", str(self.server.pid)],
            stderr=subprocess.PIPE, text=True, preexec_fn=on_core(self.server.core))
        line = self.process.stderr.readline()
        if "attached" not in line:
            self.process.kill()
            self.process.wait()
            raise Failed(f"strace cannot attach: {line.strip()}")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with open(self.report) as report:
            for line in report:
                if (row := re.match(r"\s*(\d+)\s+(\w+)$", line)) and row.group(2) != "total":
                    self.counts[row.group(2)] = int(row.group(1))
