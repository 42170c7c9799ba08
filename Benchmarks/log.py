"""Where the logs of servers under test go."""

import collections
import os
import tempfile

MIB = 1024 * 1024
MOST = 256 * MIB  # more than the lines of a run


class Log:
    """Memory with a descriptor, which one server of a program after the other writes over.

    At the end of a file each line takes memory that nobody had, and on a virtual machine that gives what is free back to
    its host each such page costs some ten microseconds, as often as for 15 requests: a tenth of what the server costs,
    on a machine that it has nothing to do with. The bare server writes no log, so it would be ours alone that pays.
    """

    idle = collections.defaultdict(list)  # by program
    in_files = False  # true: each in a file that grows, see the option --log-files

    def __init__(self, program):
        self.program = program
        if self.in_files:
            self.descriptor = os.open(tempfile.gettempdir(), os.O_TMPFILE | os.O_RDWR, 0o600)
        else:
            self.descriptor = self.idle[program].pop() if self.idle[program] else os.memfd_create("log")
        # Nothing of the last server's is to be taken for this one's first lines.
        os.pwrite(self.descriptor, bytes(MIB), 0)
        self.rewind()

    def rewind(self):
        """The server goes on at the beginning: it has its place with the descriptor, which this one is, too."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        if (most := 0 if self.in_files else MOST) < os.fstat(self.descriptor).st_size:
            os.truncate(self.descriptor, most)

    def first(self, size):
        """What was written first, `size` bytes at most."""
        return os.pread(self.descriptor, size, 0).rstrip(b"\0")

    def give_back(self):
        if self.in_files:
            os.close(self.descriptor)
        else:
            self.idle[self.program].append(self.descriptor)
