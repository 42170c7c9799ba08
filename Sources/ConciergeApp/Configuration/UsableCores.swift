import Glibc

/// How many processor cores this process may really use: its affinity mask, and inside a container its CPU quota.
package enum UsableCores {
    package static func count() -> Int {
        let allowed = allowedByAffinity() ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        guard let quota = quota() else { return allowed }
        return max(1, min(allowed, quota))
    }

    private static func allowedByAffinity() -> Int? {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return nil }
        // CPU_COUNT is a macro that Swift cannot import.
        let count = withUnsafeBytes(of: set) { bytes in bytes.reduce(0) { $0 + $1.nonzeroBitCount } }
        return count > 0 ? count : nil
    }

    /// cgroup v2 writes `<quota> <period>` in microseconds, or `max <period>` where there is no quota.
    private static func quota() -> Int? {
        guard let bytes = try? FileReader().read("/sys/fs/cgroup/cpu.max", limit: 256) else { return nil }
        let numbers = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map { Int($0) }
        guard numbers.count == 2, let quota = numbers[0], let period = numbers[1], period > 0 else { return nil }
        return (quota + period - 1) / period
    }
}
