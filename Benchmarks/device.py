"""What reaches the disk that holds a folder."""

import os
import time

SECTOR = 512  # what the kernel counts in, whatever the device has
IDLE_SECONDS = 3
SETTLING_SECONDS = 2  # after a load: what a server puts off until it has less to do is a part of what the load costs


class Device:
    """The block device under a folder.

    A server hands its pages to the kernel, which writes them when it likes: only the device's own counter says how much
    that came to, and how often. Everything is synced before the counter is read. It counts what others write, too;
    what the device gets while nothing is measured is taken off.
    """

    def __init__(self, folder):
        number = os.stat(folder).st_dev
        path = f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat"
        # A file system without a device of its own (overlay, btrfs) has no such counter.
        self.path = path if os.path.exists(path) else None
        self.idle = 0.0
        if self.path:
            before, started = self.written(()), time.monotonic()
            time.sleep(IDLE_SECONDS)
            self.idle = (self.written(()) - before) / (time.monotonic() - started)

    def written(self, processes):
        """Bytes so far; without a device those that the kernel counts for these processes."""
        os.sync()
        if self.path:
            with open(self.path) as stat:
                return int(stat.read().split()[6]) * SECTOR
        total = 0
        for process in processes:
            with open(f"/proc/{process}/io") as io:
                total += int(next(line for line in io if line.startswith("write_bytes")).split()[1])
        return total

    def watch(self, load, server):
        """The same load, with the bytes that reached the device for it, until the server has settled and all is
        synced: `to_disk` for each request and `to_disk_rate` for each second of the load."""

        def run(seconds):
            before, started = self.written(server.processes), time.monotonic()
            result = load(seconds)
            time.sleep(SETTLING_SECONDS)
            written = self.written(server.processes) - before
            written = max(written - self.idle * (time.monotonic() - started), 0)
            result["to_disk"] = written / result["requests"]
            result["to_disk_rate"] = written / (result["duration"] / 1e6)
            return result

        return run
