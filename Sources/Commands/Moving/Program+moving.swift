import Configuration
import Glibc
import JSONDocument
import Operations
import Sessions

extension Program {
    /// For how long nothing may come of a response: an import may wait for a disk, an export for a store.
    private static let patience = 120

    /// Imports an archive into a running server, and prints the report.
    static func importArchive(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput
    ) throws -> Int32 {
        let path = invocation.argument ?? ""
        // It can be interrupted at any time: what is imported twice is there once.
        TerminationSignals.unblock()
        var pace = Pace()
        var work = ArchiveImport(
            to: try AdminListener(of: loaded, timeoutSeconds: patience), replaces: invocation["--replace"] != nil,
            isTrial: invocation["--dry-run"] != nil, from: invocation["--from"].flatMap { Int($0) } ?? 1
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
            throw CommandFailure("\(path) is no export: \(error.problem.detail)")
        }
        output.result("\(work.report.text)\n")
        let (report, isRefused) = (work.report, work.report.refused > 0 || work.report.process == .refused)
        return report.isComplete && !isRefused && report.errors.isEmpty ? ExitStatus.success : ExitStatus.failure
    }

    /// Exports everything that a running server has to a file.
    static func exportArchive(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput
    ) throws -> Int32 {
        let path = invocation.argument ?? ""
        TerminationSignals.unblock()
        var pace = Pace()
        do {
            let export = try ArchiveExport(
                from: AdminListener(of: loaded, timeoutSeconds: patience), after: invocation["--after"],
                to: path,
                replaces: invocation["--force"] != nil
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
            throw CommandFailure("what arrived is no export: \(error.problem.detail)")
        }
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

/// `concierge export`: writes what a server exports to a file, and checks it.
struct ArchiveExport {
    private(set) var sessions = 0
    /// What is missing or wrong.
    private(set) var problems: [String] = []
    /// Behind the last session that has arrived an export can go on.
    private(set) var last: String?
    private(set) var isComplete = false
    /// Where it is: the file that was asked for, or what has arrived of it.
    private(set) var place: String

    /// A file that exists is replaced only by a whole export.
    ///
    /// - Parameters:
    ///   - after: the cursor of a session, to go on behind it.
    ///   - replaces: whether `file` may exist.
    ///   - progress: is called with the number of bytes so far.
    init(
        from listener: AdminListener, after: String?, to file: String, replaces: Bool, progress: (Int) -> Void
    ) throws {
        if !replaces, access(file, F_OK) == 0 {
            errno = EEXIST
            throw CommandFailure.ofFile(file)
        }
        place = file + ".partial"
        let descriptor = open(place, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw CommandFailure.ofFile(place) }
        var count = 0
        var isWritten = true
        let path = "/v1/exports" + (after.map { "?after=\($0)" } ?? "")
        let answer = Result { () throws(CommandFailure) in
            try withoutActuallyEscaping(progress) { progress throws(CommandFailure) in
                try listener.send("POST", path) { piece in
                    count += piece.count
                    isWritten = Self.write(piece, to: descriptor)
                    progress(count)
                    return isWritten
                }
            }
        }
        isWritten = isWritten && fsync(descriptor) == 0
        let failure = CommandFailure.ofFile(place)
        do {
            guard close(descriptor) == 0, isWritten else { throw failure }
            switch answer {
            case .success(let answer) where answer.status != 200: throw CommandFailure(listener.refusal(answer))
            case .failure(let silence) where count == 0: throw silence
            case .success, .failure: break
            }
            try check(try LineReader(place))
        } catch {
            unlink(place)
            throw error
        }
        guard isComplete else { return }
        guard rename(place, file) == 0 else { throw CommandFailure.ofFile(file) }
        place = file
    }

    static func write(_ piece: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = piece
        while let start = rest.baseAddress, !rest.isEmpty {
            let count = Glibc.write(descriptor, start, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    private mutating func check(_ file: LineReader) throws {
        var check = ArchiveCheck()
        while let line = try file.next() {
            do {
                if case .session(let session) = try check.take(line) { last = session[member: "cursor"]?.string }
            } catch let problem as ArchiveProblem {
                // The line where it broke off.
                problems.append(problem.detail)
                break
            }
            problems += check.takeProblems().map(\.detail)
            sessions = check.sessions
        }
        isComplete = try check.finish() && problems.isEmpty
        problems += check.takeProblems().map(\.detail)
    }
}
