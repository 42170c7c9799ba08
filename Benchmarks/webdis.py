"""What a session service of one's own might be: webdis in front of Redis, which syncs before it answers."""

import contextlib
import json
import os
import socket
import tempfile
import time

from server import Failed, Server, free_port


class Listener(Server):
    """A program that does not say when it listens: its port is tried."""

    def __init__(self, command, core, port, cores=None):
        super().__init__(command, core, cores=cores)
        self.wanted_port = port

    def listening_port(self, deadline):
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.wanted_port), timeout=1).close()
                return self.wanted_port
            except OSError:
                if self.process.poll() is not None:
                    raise Failed(f"{self.command[0]} ended: {self.last_words()}") from None
                time.sleep(0.01)
        raise Failed(f"{self.command[0]} did not listen within 20 s")


class Webdis:
    """Both, on the server's core; to a load they are one server."""

    def __init__(self, core, folder, cores=None):
        self.core, self.folder, self.cores = core, folder, cores

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="redis-", dir=self.folder))
            port = free_port()
            # No snapshots and no rewriting of the log beside the load: nothing is to disturb it.
            redis = stack.enter_context(Listener(
                ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes",
                 "--appendfsync", "always", "--save", "", "--auto-aof-rewrite-percentage", "0"],
                self.core, port, self.cores))
            self.port = free_port()
            path = os.path.join(folder, "webdis.json")
            with open(path, "w") as file:
                # One thread, since there is one core: with more of them, or of connections to Redis, a SET costs more.
                json.dump({"redis_host": "127.0.0.1", "redis_port": port, "http_host": "127.0.0.1",
                           "http_port": self.port, "threads": 1, "pool_size": 8, "daemonize": False, "database": 0,
                           "verbosity": 1, "logfile": os.path.join(folder, "webdis.log")}, file)
            webdis = stack.enter_context(Listener(["webdis", path], self.core, self.port, self.cores))
            self.programs, self.redis_port = (redis, webdis), port
            self.url = webdis.url
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    @property
    def processes(self):
        return tuple(program.pid for program in self.programs)

    def fill(self, keys, state):
        """Gives Redis so many keys, each with this state, without webdis. The keys, as tokens for a load."""
        names, state = [f"{number:032x}" for number in range(keys)], state.encode()
        with socket.create_connection(("127.0.0.1", self.redis_port), timeout=30) as connection:
            for start in range(0, keys, 1000):
                batch = names[start : start + 1000]
                connection.sendall(b"".join(
                    b"*3\r\n$3\r\nSET\r\n$48\r\nsession:%s:profile\r\n$%d\r\n%s\r\n"
                    % (name.encode(), len(state), state) for name in batch))
                answers = b""
                while len(answers) < 5 * len(batch):
                    answers += connection.recv(65536)
                if answers != b"+OK\r\n" * len(batch):
                    raise Failed(f"Redis answered {answers[:200]} to a SET")
        return names

    def cpu(self):
        return sum(program.cpu() for program in self.programs)

    def trim_log(self):
        for program in self.programs:
            program.trim_log()
