import Configuration
import FlowTools
import JSONDocument
import Navigation
import Operations
import SQLiteStorage
import Sessions

extension Program {
    /// Writes problems to standard error, and the summary to standard output.
    static func check(
        _ loaded: LoadedConfiguration, _ files: FileReader, against url: String?, _ output: ProgramOutput
    ) throws -> Int32 {
        var loaded = loaded
        loaded.problems += [storeProblem(of: loaded, files), backupProblem(of: loaded, files)].compactMap(\.self)
        for problem in loaded.problems { output.complaint("\(problem)\n") }
        let errors = loaded.problems.count { $0.severity == .error }
        let source = loaded.file ?? "no configuration file"
        output.result(
            "checked \(source), \(String(counting: loaded.serviceFileCount, "service file")) and "
                + "\(String(counting: loaded.flowFileCount, "flow file")): "
                + "\(String(counting: errors, "error")), \(String(counting: loaded.problems.count - errors, "warning"))\n"
        )
        guard errors == 0 else { return ExitStatus.usage }
        return try url.map { try compare(loaded, files, with: $0, output) } ?? ExitStatus.success
    }

    /// Why a server could not use the configured store. The check creates nothing. A server that already uses the file
    /// is no problem, because it may be the one that is being checked.
    private static func storeProblem(of loaded: LoadedConfiguration, _ files: FileReader) -> ConfigurationProblem? {
        guard case .sqlite(let path) = loaded.configuration.store,
            let problem = StorePlace(files.path(of: path), keys: loaded.configuration.encryptionKeys).problem
        else { return nil }
        return ConfigurationProblem(
            at: loaded.origin(of: "store"), pointer: "/store", code: "unusable_store", "\(problem)")
    }

    /// Why the server could make no backups. It would start all the same: the directory may be a disk that is mounted
    /// later.
    private static func backupProblem(of loaded: LoadedConfiguration, _ files: FileReader) -> ConfigurationProblem? {
        guard let directory = loaded.configuration.backup.directory,
            let obstacle = BackupSeries.obstacle(in: files.path(of: directory))
        else { return nil }
        return ConfigurationProblem(
            obstacle.isNonsense ? .error : .warning, at: loaded.origin(of: "backup.directory"),
            pointer: "/backup/directory", code: "unusable_directory",
            "backup.directory is \(directory): \(obstacle.reason)")
    }

    /// Reports what these flows would do to the journeys of a running server.
    private static func compare(
        _ loaded: LoadedConfiguration, _ files: FileReader, with url: String, _ output: ProgramOutput
    ) throws -> Int32 {
        let listener = try ImpactReport.listener(at: url, loaded.configuration)
        let census = try ImpactReport.census(at: listener)
        let tried = try ImpactReport.tried(loaded.flows, with: loaded.services, at: listener)
        let report = ImpactReport(
            JourneyImpact(of: FlowEngine(catalog: loaded.flows), on: census), tried,
            orphans: loaded.configuration.orphanedJourneys)
        for misfit in tried.misfits {
            output.complaint("\(misfit.problem(in: loaded.services, with: files))\n")
        }
        for line in report.lines { output.result("\(line)\n") }
        output.result("\(report.summary)\n")
        return report.losesJourneys || !tried.misfits.isEmpty ? ExitStatus.usage : ExitStatus.success
    }
}

extension Program {
    /// Prints scripts that together take every transition of a flow.
    static func paths(_ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput) throws -> Int32
    {
        let flow = try flow(of: invocation, in: loaded)
        let catalog = try loaded.catalog()
        let services = Sessions(catalog: catalog, store: MemoryStore()).documentsOfNewSession
        let coverage = FlowPaths(flow, in: loaded.flows, services: catalog.directory)
            .coveringScripts(services: services, now: SystemClock().now())
        output.result(
            invocation["--curl"] != nil ? coverage.curl(base: base(loaded.configuration)) : "\(coverage.json)\n")
        return ExitStatus.success
    }

    /// The address at which this machine reaches the public listener of the configuration.
    private static func base(_ configuration: Configuration) -> String {
        let host =
            switch configuration.host {
            case "0.0.0.0", "::": "localhost"
            case let host where !ListenAddress.hasPort(host): "localhost"
            case let host where host.contains(":"): "[\(host)]"
            default: configuration.host
            }
        return "\(configuration.tls.certificate == nil ? "http" : "https")://\(host):\(configuration.port)"
    }
}

extension Program {
    /// Plays a script on a flow, and writes each step to standard output.
    static func simulate(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ files: FileReader, _ output: ProgramOutput
    ) async throws -> Int32 {
        let flow = try flow(of: invocation, in: loaded)
        let path = invocation["--script"] ?? ""
        let script = try SimulationScript(try files.read(path), named: path)
        let input = try invocation["--input"].map(Self.input) ?? script.input
        let simulation = try await Simulation(of: flow, loaded, given: script.given)
        var isComplete = true
        output.result("start \(flow.id) \(flow.version)\(input.map { " \($0)" } ?? "")\n")
        _ = try await simulation.play(script, input: input) { step, result in
            if let step { output.result("\n> \(script.steps[step])\n") }
            let expected = step.flatMap { script.expectations[$0] }
            switch result {
            case .shown(let shown, let path):
                if case .navigate? = step.map({ script.steps[$0] }) {
                    output.result("  by way of \(path.joined(separator: ", "))\n")
                }
                output.result(SimulationText.screen(shown.view))
            case .refused(let error):
                output.result(try SimulationText.refusal(error))
                if expected?.refused == nil { isComplete = false }
            }
            for task in try await simulation.newTasks() { output.result("  task    \(task.name) \(task.input)\n") }
            for difference in try await simulation.differences(result, from: expected) {
                output.result("  differs: \(difference)\n")
                isComplete = false
            }
        }
        return isComplete ? ExitStatus.success : ExitStatus.failure
    }

    /// The flow of a command, in its highest version.
    private static func flow(
        of invocation: Invocation, in loaded: LoadedConfiguration
    ) throws(UsageError) -> FlowDefinition {
        let id = invocation.argument ?? ""
        if let flow = loaded.flows.flow(id) { return flow }
        throw UsageError("there is no flow \(id.quoted)\(NearestName.question(for: id, among: loaded.flows.ids))")
    }

    private static func input(_ text: String) throws(UsageError) -> JSONDocument {
        do {
            return try JSONDocument(parsing: text)
        } catch {
            throw UsageError("--input is not JSON: \(error)")
        }
    }
}
