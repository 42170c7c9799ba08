import Glibc
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

extension Program {
    /// Runs the program with the arguments, environment and streams of this process, and ends the process with its exit
    /// status.
    ///
    /// It is not an asynchronous `main`: that would leave the main thread to the dispatch library, which unblocks all
    /// signals there, and SIGTERM would end the process in the middle of its responses.
    package static func main(adding added: SwiftServices) -> Never {
        AddressSpace.checkForProgram()
        TerminationSignals.block()
        Task.detached {
            let arguments = Array(CommandLine.arguments.dropFirst())
            let status = await run(arguments: arguments, environment: environmentOfProcess(), adding: added) { loaded in
                await Application.run(loaded)
            }
            DetachedThread.waitForEnds(atMost: .seconds(1))
            exit(status)
        }
        // This thread has nothing left to do. With the signals blocked, `pause` does not return.
        while true { pause() }
    }

    private static func environmentOfProcess() -> [String: String] {
        var variables: [String: String] = [:]
        // `environ` is NULL-terminated, and nothing in this program changes it.
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }
}
