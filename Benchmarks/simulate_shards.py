#!/usr/bin/env python3
"""Many Concierge servers over many shards of Redis, simulated: what each holds and does, what failures refuse and lose.

python3 Benchmarks/simulate_shards.py [--sessions 1e9] [--shards 1000] [--servers 200] [--days 30] [--seed 1] [--check]

It is arithmetic, not a run of the program: it shows what a fleet would hold, do and lose, wherever its sessions are
spread over many Redis servers. Sizes and costs are those that Benchmarks/shard.py measures; rates of failures are
assumptions, which --help lists. Sessions have three sizes and are on the shard that their id hashes to; 256 lists of
all sessions are on shards of their own, as in a Redis Cluster. Users come in the course of a day, whose busiest
minute has PEAK times the mean. A small part of the sessions asks far more than the others. Redis' work for a request
is less when requests of a server travel together, so there are two figures: all together, and each alone.

--check compares the simulation with what can be worked out on paper, and ends with status 1 when they differ.
"""

import argparse
import bisect
import itertools
import math
import random
import sys

# What shard.py has measured: bytes of Redis for a session, and the part of all sessions that are such.
SIZES = ((410, 0.5), (975, 0.3), (1727, 0.2))
# Of these the entry in one of the lists of all sessions, which are in places of their own.
INDEX, LISTS = 210, 256
# Microseconds of one core in a server and in Redis, for a read and a write: when 64 travel together, and when each
# travels alone.
SERVER = {"together": (27, 69), "alone": (131, 361)}
REDIS = {"together": (6, 33), "alone": (51, 218)}
# Bytes in the log of Redis for a write.
LOG_WRITE = 333

GIB, DAY, YEAR = 1 << 30, 86_400, 365 * 86_400
# The busiest minute over the mean of the day.
PEAK = 2.5
# One session in HOT_ONE_IN asks HOT_TIMES as often: a script, a page that polls.
HOT_ONE_IN, HOT_TIMES = 10_000, 500
# What Redis needs beside its data: fragments of memory, buffers, and pages that are copied while its log is rewritten.
HEADROOM = 1.5


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    option = parser.add_argument
    option("--sessions", type=float, default=1e9, help="sessions that exist at a time (1e9)")
    option("--shards", type=int, default=1000)
    option("--servers", type=int, default=200)
    option("--workers", type=int, default=8, help="worker threads, and cores, of a server (8)")
    option("--requests", type=float, default=12, help="requests of a session in an hour (12)")
    option("--writes", type=float, default=0.25, help="the part of them that are writes (0.25)")
    option("--days", type=float, default=30, help="length of the simulation (30)")
    option("--seed", type=int, default=1)
    option("--failover", type=float, default=15, help="seconds until a replica has taken over (15)")
    option("--shard-failures", type=float, default=2, help="kills of a shard's master in a year (2)")
    option("--power-cuts", type=float, default=0.2, help="losses of power of a shard's machine in a year (0.2)")
    option("--disk-losses", type=float, default=0.02, help="losses of a shard's disk in a year (0.02)")
    option("--restart", type=float, default=120, help="seconds until a master without a replica is back (120)")
    option("--server-crashes", type=float, default=4, help="crashes of a server in a year (4)")
    option("--deploys", type=float, default=8, help="rolling upgrades of all servers in a month of 30 days (8)")
    option("--sync", type=float, default=0.0002, help="seconds of a sync of a shard's disk (0.0002)")
    option("--lag", type=float, default=0.01, help="seconds that a replica is behind its master (0.01)")
    option("--check", action="store_true")
    return parser.parse_args()


def poisson(chance, mean):
    """A number of events; for large means by the normal distribution."""
    if mean > 500:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    limit, product, count = math.exp(-mean), chance.random(), 0
    while product > limit:
        product *= chance.random()
        count += 1
    return count


def binomial(chance, count, probability):
    """A number of successes; the normal distribution is close enough for what is counted here."""
    mean = count * probability
    if mean < 50:
        return min(count, poisson(chance, mean))
    return min(count, max(0, round(chance.gauss(mean, math.sqrt(mean * (1 - probability))))))


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(part * len(ordered)) - 1)]


def spread(values, form):
    return " · ".join(form(value) for value in (percentile(values, 0.5), percentile(values, 0.99), max(values)))


class Fleet:
    """Sessions on shards, and what they ask."""

    def __init__(self, options, chance):
        self.options = options
        self.sessions, self.memory, self.rates = [], [], []
        left = round(options.sessions)
        for shard in range(options.shards):
            # Ids are hashed: each of the rest is on this shard with the same probability.
            count = binomial(chance, left, 1 / (options.shards - shard)) if shard < options.shards - 1 else left
            left -= count
            self.sessions.append(count)
            rest, part, bytes_ = count, 1.0, 0
            for size, share in SIZES:
                some = binomial(chance, rest, min(1, share / part))
                bytes_ += some * (size - INDEX)
                rest, part = rest - some, part - share
            self.memory.append(bytes_ + rest * (SIZES[-1][0] - INDEX))
            hot = poisson(chance, count / HOT_ONE_IN)
            # A hot session asks HOT_TIMES as often, the mean of all stays.
            quiet = options.requests / 3600 / (1 + (HOT_TIMES - 1) / HOT_ONE_IN)
            self.rates.append(quiet * (count - hot + HOT_TIMES * hot))
        for _ in range(LISTS):
            self.memory[chance.randrange(options.shards)] += INDEX * sum(self.sessions) / LISTS
        self.peaks = [rate * PEAK for rate in self.rates]
        # A balancer keeps them close to even.
        total = sum(self.peaks)
        noise = [chance.gauss(1, 0.03) for _ in range(options.servers)]
        self.server_peaks = [total * part / sum(noise) for part in noise]

    def cores(self, rate, costs):
        """Cores in use by requests at that rate."""
        read, write = costs
        return rate * (read + self.options.writes * (write - read)) / 1e6


def shape(second):
    """A cosine raised to a power, so that its mean is 1 and its highest value PEAK."""
    return PEAK * (0.5 + 0.5 * math.cos(2 * math.pi * second / DAY)) ** POWER


def mean_of_power(power):
    """The mean of (0.5 + 0.5 cos)**power over a day."""
    return math.gamma(power + 0.5) / (math.sqrt(math.pi) * math.gamma(power + 1))


def find_power():
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_of_power(middle) > 1 / PEAK else (low, middle)
    return low


POWER = find_power()

# Settings, and the seconds of acknowledged writes that each kind of failure loses; None for all sessions of the shard.
# A restart on the same disk keeps what the kernel had (kill) or what was synced (power). A replica takes over without
# what had not reached it, unless WAIT has made each write wait for that.
SETTINGS = {
    "no file, no replica": {"kill": None, "power": None, "disk": None},
    "appendfsync no": {"kill": 0, "power": 30, "disk": None},
    "everysec": {"kill": 0, "power": 1, "disk": None},
    "always": {"kill": 0, "power": 0, "disk": None},
    "always, replica": {"kill": "lag", "power": "lag", "disk": "lag"},
    "always, replica, WAIT 1": {"kill": 0, "power": 0, "disk": 0},
}


class Failures:
    """What happens in the time, and what it refuses and loses."""

    def __init__(self, fleet, chance):
        options = fleet.options
        self.fleet, self.time = fleet, options.days * DAY
        self.counts = {}
        # A drained server refuses nothing: Tests/EndToEnd/Deployment.
        self.refused = {"failover": 0.0, "restart": 0.0, "crash": 0.0, "deploy": 0.0}
        self.requests = sum(fleet.rates) * self.time
        self.lost_writes = dict.fromkeys(SETTINGS, 0.0)
        self.lost_sessions = dict.fromkeys(SETTINGS, 0)
        yearly = {"kill": options.shard_failures, "power": options.power_cuts, "disk": options.disk_losses}
        for kind, rate in yearly.items():
            self.counts[kind] = poisson(chance, rate * options.shards * self.time / YEAR)
            for _ in range(self.counts[kind]):
                self.fail(kind, chance.randrange(options.shards), chance.random() * DAY)
        self.counts["crash"] = poisson(chance, options.server_crashes * options.servers * self.time / YEAR)
        for _ in range(self.counts["crash"]):
            rate = fleet.server_peaks[chance.randrange(options.servers)] / PEAK * shape(chance.random() * DAY)
            # What is in progress, for a hundredth of a second, breaks off; refused connections go to other servers.
            self.refused["crash"] += rate * 0.01
        self.counts["deploy"] = poisson(chance, options.deploys * options.days / 30)

    def fail(self, kind, shard, second):
        options, factor = self.fleet.options, shape(second)
        rate = self.fleet.rates[shard] * factor
        self.refused["failover"] += rate * options.failover
        self.refused["restart"] += rate * options.restart
        for name, losses in SETTINGS.items():
            loss = options.lag if losses[kind] == "lag" else losses[kind]
            if loss is None:
                self.lost_sessions[name] += self.fleet.sessions[shard]
            else:
                self.lost_writes[name] += rate * options.writes * loss


def report(options):
    chance = random.Random(options.seed)
    fleet = Fleet(options, chance)
    failures = Failures(fleet, chance)
    print(f"{options.sessions:,.0f} sessions, {options.shards} shards, {options.servers} servers of "
          f"{options.workers} workers, {options.days:g} days, seed {options.seed}\n")
    print("| | median · p99 · highest |\n|---|---|")
    print(f"| sessions of a shard, thousands | {spread(fleet.sessions, lambda v: f'{v / 1000:,.0f}')} |")
    print(f"| memory of a shard, GiB, data alone | {spread(fleet.memory, lambda v: f'{v / GIB:.2f}')} |")
    print(f"| with {HEADROOM} times that for Redis itself | {spread(fleet.memory, lambda v: f'{v * HEADROOM / GIB:.2f}')} |")
    print(f"| requests/s of a shard in the busiest minute | {spread(fleet.peaks, lambda v: f'{v:,.0f}')} |")
    for way in ("together", "alone"):
        print(f"| its core in use then, requests {way} | "
              f"{spread(fleet.peaks, lambda v: f'{fleet.cores(v, REDIS[way]):.0%}')} |")
    print(f"| its time in syncs, if no two writes shared one | "
          f"{spread(fleet.peaks, lambda v: f'{v * options.writes * options.sync:.0%}')} |")
    print(f"| MiB/s of its log then | {spread(fleet.peaks, lambda v: f'{v * options.writes * LOG_WRITE / 2**20:.2f}')} |")
    print(f"| requests/s of a server then | {spread(fleet.server_peaks, lambda v: f'{v:,.0f}')} |")
    for way in ("together", "alone"):
        print(f"| its cores in use then, of {options.workers}, requests {way} | "
              f"{spread(fleet.server_peaks, lambda v: f'{fleet.cores(v, SERVER[way]):.1f}')} |")
    print("| the same with a tenth of the servers away | "
          f"{spread(fleet.server_peaks, lambda v: f'{fleet.cores(v, SERVER[way]) / 0.9:.1f}')} |")
    counts = failures.counts
    print(f"\nIn {options.days:g} days: {counts['kill']} masters killed, {counts['power']} machines without "
          f"power, {failures.counts['disk']} disks lost, {failures.counts['crash']} servers crashed, "
          f"{failures.counts['deploy']} upgrades of all servers; {failures.requests:.3g} requests\n")
    print("| requests refused (503) or broken off | | of all |\n|---|---|---|")
    for name, text in (("failover", f"shards fail over in {options.failover:g} s"),
                       ("restart", f"instead: shards without a replica are back in {options.restart:g} s"),
                       ("crash", "servers crash"), ("deploy", "servers are drained and upgraded")):
        count = failures.refused[name]
        print(f"| {text} | {count:,.0f} | {count / failures.requests:.2g} |")
    print("\n| setting | acknowledged writes lost | sessions lost with all they hold |\n|---|---|---|")
    for name in SETTINGS:
        print(f"| {name} | {failures.lost_writes[name]:,.0f} | {failures.lost_sessions[name]:,} |")


def check(options):
    """What can be worked out on paper, within four standard deviations."""
    mistakes = []

    def expect(name, found, wanted, tolerance):
        if not abs(found - wanted) <= tolerance:
            mistakes.append(f"{name}: {found:g}, on paper {wanted:g} ± {tolerance:g}")

    chance = random.Random(options.seed)
    fleet = Fleet(options, chance)
    mean = options.sessions / options.shards
    expect("sessions", sum(fleet.sessions), options.sessions, 0)
    expect("shares of sizes", sum(share for _, share in SIZES), 1, 1e-9)
    deviation = math.sqrt(sum((count - mean) ** 2 for count in fleet.sessions) / options.shards)
    expect("deviation of a shard", deviation, math.sqrt(mean), 4 * math.sqrt(mean / 2 / options.shards))
    size = sum(size * share for size, share in SIZES)
    expect("memory", sum(fleet.memory), options.sessions * size, 4 * max(s for s, _ in SIZES) * math.sqrt(options.sessions))
    hot = options.sessions / HOT_ONE_IN
    rate = options.sessions * options.requests / 3600
    expect("requests/s", sum(fleet.rates), rate, 4 * rate * HOT_TIMES / HOT_ONE_IN / math.sqrt(hot))
    expect("servers share all requests", sum(fleet.server_peaks), sum(fleet.peaks), 1e-6 * sum(fleet.peaks))
    seconds = range(0, DAY, 60)
    expect("mean of a day", sum(map(shape, seconds)) / len(seconds), 1, 1e-3)
    expect("peak of a day", max(map(shape, seconds)), PEAK, 1e-9)
    failures = Failures(fleet, chance)
    for kind, yearly, count in (("kill", options.shard_failures, options.shards),
                                ("crash", options.server_crashes, options.servers)):
        wanted = yearly * count * options.days / 365
        expect(kind, failures.counts[kind], wanted, 4 * math.sqrt(wanted))
    failed = sum(failures.counts[kind] for kind in ("kill", "power", "disk"))
    # The square of the day's shape has a mean, too: the refusals of one failure vary by it.
    variance = PEAK ** 2 * mean_of_power(2 * POWER)
    wanted = failed * rate / options.shards * options.failover
    expect("refused while failing over", failures.refused["failover"], wanted,
           4 * wanted * math.sqrt(variance / max(failed, 1)))
    lost = failures.lost_writes
    expect("a replica's lag loses as much of what is refused", lost["always, replica"],
           failures.refused["failover"] / options.failover * options.lag * options.writes, 1e-6 * lost["always, replica"])
    expect("WAIT 1 loses", lost["always, replica, WAIT 1"] + failures.lost_sessions["always, replica, WAIT 1"], 0, 0)
    expect("always loses without disks", lost["always"], 0, 0)
    expect("sessions of lost disks", failures.lost_sessions["always"], failures.counts["disk"] * mean,
           failures.counts["disk"] * 5 * math.sqrt(mean))
    order = ["always", "everysec", "appendfsync no"]
    if not all(lost[one] <= lost[other] for one, other in itertools.pairwise(order)):
        mistakes.append("a weaker setting loses less")
    ordered = sorted(fleet.sessions)
    if bisect.bisect_right(ordered, percentile(fleet.sessions, 0.99)) < 0.99 * options.shards:
        mistakes.append("the 99th percentile is too low")
    again = Fleet(options, random.Random(options.seed))
    if (again.sessions, again.memory) != (fleet.sessions, fleet.memory):
        mistakes.append("the same seed gives another fleet")
    for mistake in mistakes:
        print(mistake)
    print("the arithmetic holds" if not mistakes else f"{len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    options = arguments()
    sys.exit(check(options) if options.check else report(options))
