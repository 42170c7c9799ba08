import Configuration
import Glibc
import Operations
import Sessions

/// The program from its arguments to its exit status. Everything outside is passed in.
package enum Program {
    /// Runs the server with a valid configuration, and returns the exit status.
    package typealias Serve = @Sendable (LoadedConfiguration) async -> Int32
    /// The same for an author who tries flows out, with the ends of tasks.
    package typealias Develop = @Sendable (LoadedConfiguration, TaskScript) async -> Int32

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - added: services in Swift that the program adds.
    ///   - files: reads files. It decides where relative paths start.
    ///   - develop: what `concierge dev` does with the configuration.
    ///   - serve: what `concierge serve` does with it.
    package static func run(
        arguments: [String], environment: [String: String], adding added: SwiftServices = SwiftServices(),
        files: FileReader = FileReader(),
        output: ProgramOutput = .standard, develop: Develop = { _, _ in ExitStatus.usage }, serve: Serve
    ) async -> Int32 {
        let invocation: Invocation
        do {
            invocation = try Invocation(arguments)
        } catch {
            output.complaint("concierge: \(error)\n")
            if arguments.isEmpty { output.complaint(HelpText.program) }
            return ExitStatus.usage
        }
        if invocation["--reference"] != nil {
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
            output.result("\(invocation.argument.flatMap(FileSchema.init(rawValue:))?.document ?? .null)\n")
            return ExitStatus.success
        default:
            do {
                if invocation.command == .`init` { return try begin(in: invocation.argument, files, output) }
                let loader = ConfigurationLoader(environment: environment, files: files, adding: added)
                let loaded = loader.load(
                    file: invocation.configurationFile, flags: invocation.flags,
                    readsFlows: !invocation.command.isForOperators)
                let hasColors =
                    output.isTerminal && environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb"
                return try await run(invocation, loaded, files, output, hasColors: hasColors, develop, serve)
            } catch {
                output.complaint("concierge: \(error)\n")
                return error is UsageError || error is FileProblem ? ExitStatus.usage : ExitStatus.failure
            }
        }
    }

    private static func run(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ files: FileReader, _ output: ProgramOutput,
        hasColors: Bool, _ develop: Develop, _ serve: Serve
    ) async throws -> Int32 {
        if invocation.command == .check { return try check(loaded, files, against: invocation["--against"], output) }
        if invocation.command == .report { return try report(invocation, loaded, files, output) }
        guard !loaded.hasErrors else {
            // Warnings are for `check` and for the log of the running server.
            for problem in loaded.problems where problem.severity == .error { output.complaint("\(problem)\n") }
            return ExitStatus.usage
        }
        switch invocation.command {
        case .serve: return await serve(loaded)
        case .dev:
            let script = try invocation["--tasks"].map { try TaskScript(try files.read($0), named: $0) }
            return await develop(loaded, script ?? TaskScript())
        case .simulate: return try await simulate(invocation, loaded, files, output)
        case .test: return await test(invocation, loaded, files, output)
        case .paths: return try paths(invocation, loaded, output)
        case .types: return try types(ClientLanguage(rawValue: invocation.argument ?? "") ?? .ts, loaded, output)
        case .store: return try store(invocation.storeAction ?? .check, invocation, loaded, output)
        case .session, .service, .journey, .task, .user:
            return try administer(invocation, loaded, files, output, hasColors: hasColors)
        case .import: return try importArchive(invocation, loaded, output)
        case .export: return try exportArchive(invocation, loaded, output)
        case .health:
            if let failure = HealthCheck.failure(of: loaded.configuration) { throw CommandFailure(failure) }
        default:
            output.result(
                invocation["--sources"] != nil
                    ? ConfigurationReport.jsonWithSources(of: loaded) : ConfigurationReport.json(of: loaded))
        }
        return ExitStatus.success
    }
}
