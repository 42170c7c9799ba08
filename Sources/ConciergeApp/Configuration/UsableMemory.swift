import Glibc

/// How many bytes of memory this process may use: those of the machine and, in a container, its limit.
enum UsableMemory {
    static func bytes() -> Int {
        let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        return min(machine, limit() ?? machine)
    }

    /// cgroup v2 writes a number of bytes, or `max` without a limit.
    private static func limit() -> Int? {
        guard let bytes = try? FileReader().read("/sys/fs/cgroup/memory.max", limit: 256) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace })
    }
}
