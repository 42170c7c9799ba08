import Configuration
import Glibc

/// The image of memory that the kernel writes when the process ends by a fault.
package enum CoreDump {
    /// It would have tokens, keys and documents. Who needs one sets the soft limit again, while the process runs
    /// (prlimit(1), `--core`).
    package static func forbid() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}

/// The limit of the process's descriptors. Each connection needs one.
package enum DescriptorLimit {
    /// Raises the soft limit for `connections`, as far as the hard limit allows.
    /// - Returns: a sentence when that is not enough.
    package static func raise(for connections: Int) -> String? {
        // Connections, and listeners, epoll sets, the log and files of libraries.
        let wanted = rlim_t(connections + 128)
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < wanted else {
            return nil
        }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur == wanted else {
            return "limits.connections and admin.connections are \(connections), but the process may have "
                + "\(limit.rlim_cur) descriptors: raise the limit (ulimit -n)"
        }
        return nil
    }
}

/// Whether `ulimit -v` (setrlimit(2), RLIMIT_AS) leaves the process the address space for its threads.
///
/// Each thread takes 8 MiB for its stack and 32 MiB for its part of the allocator, of which most is never used. Where
/// the system refuses that, Swift crashes, and the dispatch library waits for ever for the shortage to pass.
package enum AddressSpace {
    /// For configuration, services and flows, and for commands.
    private static let ofProgram = 192 << 20
    /// The server before it has sessions, its workers apart.
    private static let ofServer = 350 << 20
    private static let ofThread = 40 << 20
    /// The program and its libraries.
    private static let mapped = 200 << 20

    /// Ends the process when there is too little for any command. It allocates nothing.
    package static func checkForProgram() {
        guard !isFree(ofProgram) else { return }
        let sentence: StaticString =
            "concierge: ulimit -v leaves too little address space. Limit the memory by a control group instead.\n"
        write(STDERR_FILENO, sentence.utf8Start, sentence.utf8CodeUnitCount)
        _exit(ExitStatus.failure)
    }

    /// A sentence when there is too little for a server.
    package static func shortage(forWorkers workers: Int) -> String? {
        // Workers and, for each core, a thread of Swift's pool.
        let needed = ofServer + (workers + UsableCores.count) * ofThread
        guard !isFree(needed) else { return nil }
        return "ulimit -v leaves too little address space: with \(workers) workers the server takes about "
            + "\((needed + mapped) >> 20) MiB. Limit its memory by a control group instead."
    }

    private static func isFree(_ bytes: Int) -> Bool {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let start = mmap(nil, bytes, PROT_NONE, flags, -1, 0), start != MAP_FAILED else { return false }
        munmap(start, bytes)
        return true
    }
}
