import JSONDocument

/// Imports sessions from an archive that arrives in pieces. Each session is handled by itself: a damaged or invalid one
/// is refused and reported, and the others are imported.
///
/// Sessions are committed in groups. When the archive breaks off, or the store is full, what was committed stays.
/// Sending the same archive again continues from there, because existing sessions are skipped.
package struct SessionImport {
    /// What to do with a session that exists already.
    package enum Conflict: String, Sendable, CaseIterable {
        /// The existing session stays.
        case skip
        /// The imported session replaces it. Revisions continue from the larger one, so that no entity tag occurs
        /// twice.
        case replace
    }

    /// The first line is not the header of an archive that this program can read.
    package struct NotAnArchive: Error, Sendable {
        package let problem: ArchiveProblem
    }

    private let sessions: Sessions
    private let conflict: Conflict
    private let isTrial: Bool
    private var splitter: LineSplitter
    /// Lines of the archive, including empty ones.
    private var line = 0
    /// Lines of sessions, valid or not.
    private var sessionLines = 0
    private var hasHeader = false
    private var end: ArchiveEnd?
    private var digest = SHA256Hasher()
    private var isWhole = true
    private var group: [ArchivedSession] = []
    private var groupBytes = 0
    package private(set) var report = ImportReport()

    /// Enough sessions to share a sync, and the most in memory at a time.
    private static let largestGroup = 128
    private static let largestGroupBytes = 1 << 20

    /// - Parameter isTrial: whether to check everything and change nothing.
    package init(into sessions: Sessions, conflict: Conflict = .skip, isTrial: Bool = false) {
        self.sessions = sessions
        self.conflict = conflict
        self.isTrial = isTrial
        // Quoting a document may double its size.
        let documents = sessions.catalog.services.reduce(0) { $0 + sessions.settings.maxSize(of: $1) * 2 + 1_024 }
        splitter = LineSplitter(limit: documents + Self.roomForTheRest)
    }

    /// For labels, retired tokens and names.
    private static let roomForTheRest = 128 << 10

    /// Imports a piece.
    ///
    /// - Throws: ``NotAnArchive``; ``SessionError`` when the import cannot continue. The report is valid in any case.
    nonisolated(nonsending) package mutating func take(_ piece: [UInt8]) async throws {
        for line in splitter.lines(in: piece) { try await take(line) }
    }

    /// Ends the import.
    ///
    /// - Parameter isAtEnd: whether the archive has ended, or only broke off.
    nonisolated(nonsending) package mutating func finish(isAtEnd: Bool = true) async throws {
        if isAtEnd, let line = splitter.finish() { try await take(line) }
        try await commit()
        guard isAtEnd else { return }
        guard hasHeader else { throw NotAnArchive(problem: ArchiveProblem(detail: "the archive is empty")) }
        if end == nil {
            report.add(ArchiveProblem(detail: "the archive breaks off here: its last line is missing"), line: line)
        }
        report.isComplete = end != nil && isWhole
    }

    nonisolated(nonsending) private mutating func take(_ text: LineSplitter.Line) async throws {
        line += 1
        if text == .empty { return }
        guard case .text(let bytes) = text else {
            if !hasHeader { throw NotAnArchive(problem: ArchiveProblem(detail: "the first line is too long")) }
            isWhole = false
            sessionLines += 1
            return refuse([ArchiveProblem(detail: "is too long")], of: nil)
        }
        guard hasHeader else { return try takeHeader(bytes) }
        do {
            let document = try ArchiveLine.open(bytes)
            if let end = ArchiveEnd(document) { return takeEnd(end) }
            if ArchivedProcess.isOne(document) { return try await takeProcess(document, bytes) }
            note(bytes)
            if let session = check(document) { try await add(session, size: bytes.count) }
        } catch let problem as ArchiveProblem {
            note(bytes)
            isWhole = false
            refuse([problem], of: nil)
        }
    }

    private mutating func takeHeader(_ bytes: [UInt8]) throws(NotAnArchive) {
        do {
            _ = try ArchiveHeader(try ArchiveLine.open(bytes))
            hasHeader = true
        } catch {
            throw NotAnArchive(problem: error)
        }
    }

    nonisolated(nonsending) private mutating func takeProcess(_ document: JSONDocument, _ bytes: [UInt8]) async throws {
        note(bytes, isSession: false)
        do {
            let archived = try ArchivedProcess(document, sessions.environment)
            report.process = try await sessions.receive(archived, conflict, isTrial: isTrial)
        } catch let refusal as ArchivedSession.Refusal {
            report.process = .refused
            for problem in refusal.problems { report.add(problem, line: line) }
        }
    }

    /// Handles the line of a session, or of the process.
    private mutating func note(_ bytes: [UInt8], isSession: Bool = true) {
        if end != nil {
            isWhole = false
            report.add(ArchiveProblem(detail: "comes after the end"), line: line)
        }
        if isSession { sessionLines += 1 }
        digest.add(bytes)
        digest.add([UInt8(ascii: "\n")])
    }

    private mutating func takeEnd(_ end: ArchiveEnd) {
        let isTwice = self.end != nil
        self.end = end
        guard !isTwice, end.sessions == sessionLines, end.digest == digest.digest.text() else {
            isWhole = false
            let detail = "the archive had \(end.sessions) sessions and has been changed since it was written"
            return report.add(ArchiveProblem(pointer: "/end", detail: detail), line: line)
        }
        guard end.skipped > 0 else { return }
        let detail =
            "\(end.skipped) places of the store could not be read during the export: their sessions are missing"
        report.add(ArchiveProblem(pointer: "/end/skipped", detail: detail), line: line)
    }

    private mutating func refuse(_ problems: [ArchiveProblem], of id: SessionID?) {
        report.refused += 1
        for problem in problems { report.add(problem, of: id, line: line) }
    }

    private mutating func check(_ document: JSONDocument) -> ArchivedSession? {
        do {
            return try ArchivedSession(document, sessions.environment)
        } catch {
            refuse(error.problems, of: document[member: "session"]?.string.flatMap { SessionID($0) })
            return nil
        }
    }

    nonisolated(nonsending) private mutating func add(_ session: ArchivedSession, size: Int) async throws {
        // Two sessions with one id must be imported one after the other.
        if group.contains(where: { $0.id == session.id }) { try await commit() }
        group.append(session)
        groupBytes += size
        if group.count >= Self.largestGroup || groupBytes >= Self.largestGroupBytes { try await commit() }
    }

    /// What became of a session of a group.
    private struct Reception: Sendable {
        let place: Int
        let outcome: Result<Sessions.Arrival, SessionError>
    }

    /// Commits the group all at once, so that the store writes it together.
    nonisolated(nonsending) private mutating func commit() async throws {
        let group = self.group
        self.group = []
        groupBytes = 0
        let (sessions, conflict, isTrial) = (sessions, conflict, isTrial)
        let receptions = await withTaskGroup(of: Reception.self) { tasks in
            for (place, session) in group.enumerated() {
                // A task returns its result through a pointer. Swift 6.3.1 loses a part of it that is written before an
                // `await` and written again in a branch behind it: LLVM's elimination of dead stores, which runs before
                // the coroutine is split, finds the first write dead, because the end of a coroutine is `unreachable`.
                // So with `do { return (place, .success(try await …)) } catch { return (place, …) }` the place of each
                // success was garbage. Nothing of a result is written before the last `await`.
                tasks.addTask {
                    let outcome = await sessions.outcome(of: session, conflict, isTrial: isTrial)
                    return Reception(place: place, outcome: outcome)
                }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        var failure: SessionError?
        // What is counted are the results themselves: a place without one cannot be passed over.
        for reception in receptions.sorted(by: { $0.place < $1.place }) {
            switch reception.outcome {
            case .success(let arrival): report.count(arrival)
            case .failure(let error): failure = failure ?? error
            }
            // What follows a session that failed must be sent again.
            if failure == nil { report.last = group[reception.place].cursor }
        }
        if let failure { throw failure }
    }
}

extension Sessions {
    fileprivate nonisolated(nonsending) func outcome(
        of session: ArchivedSession, _ conflict: SessionImport.Conflict, isTrial: Bool
    ) async -> Result<Arrival, SessionError> {
        do throws(SessionError) {
            return .success(try await receive(session, conflict, isTrial: isTrial))
        } catch {
            return .failure(error)
        }
    }
}

extension ImportReport {
    fileprivate mutating func count(_ arrival: Sessions.Arrival) {
        switch arrival {
        case .new: imported += 1
        case .replaced:
            imported += 1
            replaced += 1
        case .kept: skipped += 1
        case .expired:
            skipped += 1
            expired += 1
        }
    }
}
