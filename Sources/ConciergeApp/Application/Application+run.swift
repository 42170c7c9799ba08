import Glibc
import Sessions

extension Application {
    /// Serves until SIGTERM or SIGINT, and returns the exit status of the process.
    package static func run(_ loaded: LoadedConfiguration, output: ProgramOutput = .standard) async -> Int32 {
        let configuration = loaded.configuration
        if let shortage = AddressSpace.shortage(forWorkers: configuration.workers) {
            output.complaint("concierge: \(shortage)\n")
            return ExitStatus.failure
        }
        CoreDump.forbid()
        let log = Log(settings: configuration.log)
        for problem in loaded.problems where problem.severity == .warning {
            log.write(.warning, "configuration") { $0.add("detail", "\(problem)") }
        }
        let connections = configuration.limits.connections + configuration.admin.connections
        if let shortage = DescriptorLimit.raise(for: connections) {
            log.write(.warning, "descriptor_limit") { $0.add("detail", shortage) }
        }
        let application: Application
        do {
            application = try Application(
                configuration, services: loaded.services, adding: loaded.added, flows: loaded.flows, log: log)
            try await application.start()
        } catch {
            log.flush()
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
        let (hangUps, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reloader = Task { for await _ in hangUps { await application.reloadCertificates() } }
        let reload: @Sendable () -> Void = { _ = continuation.yield(()) }
        await TerminationSignals.first(
            reload: configuration.tls.certificate == nil ? nil : reload,
            ignoring: { signal in
                log.write(.info, "signal_ignored") { $0.add("detail", "\(signal) has no effect.") }
            })
        // A handler that does not return cannot be stopped. What it has not written was not acknowledged.
        let limit = Task {
            try await Task.sleep(for: configuration.drainTimeout + .seconds(5))
            log.write(.error, "stop_overdue") { $0.add("detail", "A request is still being handled.") }
            log.flush()
            _exit(ExitStatus.failure)
        }
        continuation.finish()
        await reloader.value
        await application.stop { limit.cancel() }
        return ExitStatus.success
    }
}

/// The image of memory that the kernel writes when the process ends by a fault.
enum CoreDump {
    /// It would have tokens, keys and documents. Who needs one sets the soft limit again, while the process runs
    /// (prlimit(1), `--core`).
    static func forbid() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}

/// The limit of the process's descriptors. Each connection needs one.
enum DescriptorLimit {
    /// Raises the soft limit for `connections`, as far as the hard limit allows.
    /// - Returns: a sentence when that is not enough.
    static func raise(for connections: Int) -> String? {
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
