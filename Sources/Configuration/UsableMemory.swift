import Glibc

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
