import Sessions

extension Application {
    /// Serves until SIGTERM or SIGINT, and gives the exit status of the process.
    package static func run(_ loaded: LoadedConfiguration, output: ProgramOutput = .standard) async -> Int32 {
        let configuration = loaded.configuration
        let log = Log(settings: configuration.log)
        for problem in loaded.problems where problem.severity == .warning {
            log.write(.warning, "configuration") { $0.add("detail", "\(problem)") }
        }
        if let shortage = DescriptorLimit.raise(for: configuration.limits.connections) {
            log.write(.warning, "descriptor_limit") { $0.add("detail", shortage) }
        }
        let application: Application
        do {
            application = try Application(configuration, services: loaded.services, flows: loaded.flows, log: log)
            try await application.start()
        } catch {
            log.flush()
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
        await TerminationSignals.first()
        await application.stop()
        return ExitStatus.success
    }
}
