import Glibc

/// How many processor cores this process may use: its affinity mask and, in a container, its CPU quota.
package enum UsableCores {
    /// As at the first question.
    package static let count: Int = {
        let allowed = allowedByAffinity() ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        guard let quota = quota() else { return allowed }
        return max(1, min(allowed, quota))
    }()

    /// From `/proc`, because Glibc does not show `sched_getaffinity` to Swift.
    private static func allowedByAffinity() -> Int? {
        guard let bytes = try? FileReader().read("/proc/self/status", limit: 65_536) else { return nil }
        let label = "Cpus_allowed_list:"
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(label) }) else { return nil }
        return countOfList(line.dropFirst(label.count).filter { !$0.isWhitespace })
    }

    /// Counts a list of processors in the kernel's form: `0-3,8` are five.
    static func countOfList(_ list: String) -> Int? {
        var count = 0
        for range in list.split(separator: ",") {
            let ends = range.split(separator: "-").map { Int($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
                return nil
            }
            count += last - first + 1
        }
        return count > 0 ? count : nil
    }

    /// cgroup v2 writes `<quota> <period>` in microseconds, or `max <period>` without a quota.
    private static func quota() -> Int? {
        guard let bytes = try? FileReader().read("/sys/fs/cgroup/cpu.max", limit: 256) else { return nil }
        let numbers = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map { Int($0) }
        guard numbers.count == 2, let quota = numbers[0], let period = numbers[1], period > 0 else { return nil }
        return (quota + period - 1) / period
    }
}

/// How many bytes of memory this process may use: those of the machine and, in a container, its limit.
package enum UsableMemory {
    package static func bytes() -> Int {
        let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        return min(machine, limit() ?? machine)
    }

    /// The least limit of the process's control group and those around it. cgroup v2 writes a number of bytes, or `max`
    /// without a limit; a container sees its own group as the root.
    private static func limit() -> Int? {
        let groups = text("/proc/self/cgroup")?.split(separator: "\n").compactMap { line in
            line.hasPrefix("0::") ? line.dropFirst(3) : nil
        }
        var group = groups?.first ?? "/"
        var least: Int?
        while true {
            let most = text("/sys/fs/cgroup\(group)/memory.max").flatMap { Int($0.filter { !$0.isWhitespace }) }
            least = [least, most].compactMap(\.self).min()
            guard let slash = group.lastIndex(of: "/"), group != "/" else { return least }
            group = slash == group.startIndex ? "/" : group[..<slash]
        }
    }

    private static func text(_ path: String) -> String? {
        (try? FileReader().read(path, limit: 4_096)).map { String(decoding: $0, as: UTF8.self) }
    }
}
