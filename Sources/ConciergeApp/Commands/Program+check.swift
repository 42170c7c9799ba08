import Navigation
import Storage

extension Program {
    /// Problems on standard error, the closing lines on standard output.
    static func check(
        _ loaded: LoadedConfiguration, _ files: FileReader, against url: String?, _ output: ProgramOutput
    ) -> Int32 {
        var loaded = loaded
        if let problem = storeProblem(of: loaded, files) { loaded.problems.append(problem) }
        for problem in loaded.problems { output.complaint("\(problem)\n") }
        let errors = loaded.problems.count { $0.severity == .error }
        let source = loaded.file ?? "no configuration file"
        output.result(
            "checked \(source), \(counted(loaded.serviceFileCount, "service file")) and "
                + "\(counted(loaded.flowFileCount, "flow file")): "
                + "\(counted(errors, "error")), \(counted(loaded.problems.count - errors, "warning"))\n")
        guard errors == 0 else { return ExitStatus.usage }
        return url.map { compare(loaded, with: $0, output) } ?? ExitStatus.success
    }

    /// Why no server could keep its sessions where these are to be. Nothing is made to find out, and a server that runs on
    /// the file is no problem: it may be this very one.
    private static func storeProblem(of loaded: LoadedConfiguration, _ files: FileReader) -> ConfigurationProblem? {
        guard case .sqlite(let path) = loaded.configuration.store,
            let problem = StorePlace(files.path(of: path)).problem
        else { return nil }
        return ConfigurationProblem(
            at: loaded.origin(of: "store"), pointer: "/store", code: "unusable_store", "\(problem)")
    }

    /// What these flows would do to the journeys that run on a server.
    private static func compare(
        _ loaded: LoadedConfiguration, with url: String, _ output: ProgramOutput
    ) -> Int32 {
        do {
            let census = try ImpactReport.census(at: url, key: loaded.configuration.admin.key)
            let report = ImpactReport(
                JourneyImpact(of: FlowEngine(catalog: loaded.flows), on: census),
                orphans: loaded.configuration.orphanedJourneys)
            for line in report.lines { output.result("\(line)\n") }
            output.result("\(report.summary)\n")
            return report.losesJourneys ? ExitStatus.usage : ExitStatus.success
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
