import Configuration
import JSONDocument
import Operations
import Sessions

extension Program {
    /// For how long nothing may come of a response: an import may wait for a disk, an export for a store.
    private static let patience = 120

    /// Imports an archive into a running server, and prints the report.
    static func importArchive(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput
    ) -> Int32 {
        let path = invocation.archive ?? ""
        // It can be interrupted at any time: what is imported twice is there once.
        TerminationSignals.unblock()
        var pace = Pace()
        var work = ArchiveImport(
            to: AdminListener(loaded.configuration, timeoutSeconds: patience), replaces: invocation.replaces,
            isTrial: invocation.isTrial, from: invocation.from
        ) { report, line in
            guard pace.isDue else { return }
            output.complaint(
                "\(path): up to line \(line): \(report.imported) imported, \(report.skipped) skipped, "
                    + "\(report.refused) refused\n")
        }
        do {
            try work.run(try LineReader(path))
        } catch let stop as ArchiveImport.Stop {
            output.result("\(work.report.text)\n")
            output.complaint(
                "concierge: stopped after line \(stop.line - 1): \(stop.reason); "
                    + "go on with --from \(stop.line)\n")
            return ExitStatus.failure
        } catch let error as NotAnArchive {
            output.complaint("concierge: \(path) is no export: \(error.problem.detail)\n")
            return ExitStatus.failure
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
        output.result("\(work.report.text)\n")
        let (report, isRefused) = (work.report, work.report.refused > 0 || work.report.process == .refused)
        return report.isComplete && !isRefused && report.errors.isEmpty ? ExitStatus.success : ExitStatus.failure
    }

    /// Exports everything that a running server has to a file.
    static func exportArchive(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput
    ) -> Int32 {
        let path = invocation.archive ?? ""
        TerminationSignals.unblock()
        var pace = Pace()
        do {
            let export = try ArchiveExport(
                from: AdminListener(loaded.configuration, timeoutSeconds: patience), after: invocation.after, to: path,
                replaces: invocation.replaces
            ) { count in
                if pace.isDue { output.complaint("\(path): \(count.inBinaryUnits)\n") }
            }
            output.result("\(export.place): \(export.sessions) sessions\n")
            for problem in export.problems { output.complaint("\(export.place): \(problem)\n") }
            if !export.isComplete, let last = export.last {
                output.complaint("concierge: export the rest to another file with --after \(last)\n")
            }
            return export.isComplete ? ExitStatus.success : ExitStatus.failure
        } catch let error as NotAnArchive {
            output.complaint("concierge: what arrived is no export: \(error.problem.detail)\n")
        } catch {
            output.complaint("concierge: \(error)\n")
        }
        return ExitStatus.failure
    }
}

/// Lines of progress are a second apart.
private struct Pace {
    private var last = ContinuousClock.now

    var isDue: Bool {
        mutating get {
            guard .now - last >= .seconds(1) else { return false }
            last = .now
            return true
        }
    }
}
