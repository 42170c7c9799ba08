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
