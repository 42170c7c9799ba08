import Configuration
import Glibc
import Operations
import Sessions
import Threads

/// The program from its arguments to its exit status. Everything outside is passed in.
package enum Program {
    /// Runs the server with a valid configuration, and returns the exit status.
    package typealias Serve = @Sendable (LoadedConfiguration) async -> Int32

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - added: services in Swift that the program adds.
    ///   - files: reads files. It decides where relative paths start.
    ///   - serve: what `concierge serve` does with the configuration.
    package static func run(
        arguments: [String], environment: [String: String], adding added: SwiftServices = SwiftServices(),
        files: FileReader = FileReader(),
        output: ProgramOutput = .standard, serve: Serve
    ) async -> Int32 {
        let invocation: Invocation
        do {
            invocation = try Invocation(arguments)
        } catch {
            output.complaint("concierge: \(error)\n")
            if arguments.isEmpty { output.complaint(HelpText.program) }
            return ExitStatus.usage
        }
        if invocation.showsReference {
            output.result(ConfigurationReference.markdown)
            return ExitStatus.success
        }
        switch invocation.command {
        case .help:
            output.result(HelpText.about(invocation.topic))
            return ExitStatus.success
        case .version:
            output.result("\(BuildInformation.name) \(BuildInformation.version)\n")
            return ExitStatus.success
        case .schema:
            output.result("\(invocation.schema?.document ?? .null)\n")
            return ExitStatus.success
        case .serve, .check, .config, .simulate, .test, .paths, .store, .import, .export, .health:
            let loader = ConfigurationLoader(environment: environment, files: files, adding: added)
            let loaded = loader.load(file: invocation.configurationFile, flags: invocation.flags)
            return await run(invocation, loaded, files, output, serve)
        }
    }

    private static func run(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ files: FileReader, _ output: ProgramOutput,
        _ serve: Serve
    ) async -> Int32 {
        if invocation.command == .check { return check(loaded, files, against: invocation.against, output) }
        guard !loaded.hasErrors else {
            // Warnings are for `check` and for the log of the running server.
            for problem in loaded.problems where problem.severity == .error { output.complaint("\(problem)\n") }
            return ExitStatus.usage
        }
        switch invocation.command {
        case .serve: return await serve(loaded)
        case .simulate: return await simulate(invocation, loaded, files, output)
        case .test: return await test(invocation, loaded, files, output)
        case .paths: return paths(invocation, loaded, output)
        case .store: return store(invocation, loaded, output)
        case .import: return importArchive(invocation, loaded, output)
        case .export: return exportArchive(invocation, loaded, output)
        case .health:
            guard let failure = HealthCheck.failure(of: loaded.configuration) else { return ExitStatus.success }
            output.complaint("concierge: \(failure)\n")
            return ExitStatus.failure
        default:
            output.result(
                invocation.showsSources
                    ? ConfigurationReport.jsonWithSources(of: loaded) : ConfigurationReport.json(of: loaded))
            return ExitStatus.success
        }
    }
}
