import Commands
import ConciergeApp
import Configuration
import Glibc
import Operations
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
