import JSONDocument

/// Imports sessions from an archive. Each session is handled by itself: a damaged or invalid one is refused and
/// reported, and the others are imported.
///
/// Sessions are committed in groups. When the store is full, what was committed stays. Sending the same archive again
/// continues from there, because existing sessions are skipped.
package struct SessionImport {
    /// What to do with a session that exists already.
    package enum Conflict: String, Sendable, CaseIterable {
        /// The existing session stays.
        case skip
        /// The imported session replaces it. Revisions continue from the larger one, so that no entity tag occurs
        /// twice.
        case replace
    }

    private let sessions: Sessions
    private let conflict: Conflict
    private let isTrial: Bool
    private var check = ArchiveCheck()
    /// Lines of the archive, including empty ones.
    private var line = 0
    private var group: [ArchivedSession] = []
    private var groupBytes = 0
    package private(set) var report = ImportReport()

    /// Enough sessions to share a sync.
    private static let largestGroup = 128
    private static let largestGroupBytes = 1 << 20

    /// - Parameter isTrial: whether to check everything and change nothing.
    package init(into sessions: Sessions, conflict: Conflict = .skip, isTrial: Bool = false) {
        self.sessions = sessions
        self.conflict = conflict
        self.isTrial = isTrial
    }

    /// Imports an archive.
    ///
    /// - Throws: ``NotAnArchive``; ``SessionError`` when the import cannot continue. The report is valid in any case.
    nonisolated(nonsending) package mutating func take(_ archive: [UInt8]) async throws {
        let newline = UInt8(ascii: "\n")
        let lines = archive.last == newline ? archive.dropLast() : archive[...]
        for text in lines.split(separator: newline, omittingEmptySubsequences: false) {
            line += 1
            if !text.isEmpty { try await take(line: Array(text)) }
        }
        try await commit()
        let isComplete = try check.finish()
        tellProblems()
        report.isComplete = isComplete
    }

    nonisolated(nonsending) private mutating func take(line bytes: [UInt8]) async throws {
        do {
            let kind = try check.take(bytes)
            tellProblems()
            switch kind {
            case .header, .end: return
            case .process(let document): try await take(process: document)
            case .session(let document):
                if let session = archived(document) { try await add(session, size: bytes.count) }
            }
        } catch let problem as ArchiveProblem {
            tellProblems()
            refuse([problem], of: nil)
        }
    }

    private mutating func tellProblems() {
        for problem in check.takeProblems() { report.add(problem, line: line) }
    }

    nonisolated(nonsending) private mutating func take(process document: JSONDocument) async throws {
        do {
            let archived = try ArchivedProcess(document, sessions.environment)
            report.process = try await sessions.receive(archived, conflict, isTrial: isTrial)
        } catch let refusal as ArchivedSession.Refusal {
            report.process = .refused
            for problem in refusal.problems { report.add(problem, line: line) }
        }
    }

    private mutating func refuse(_ problems: [ArchiveProblem], of id: SessionID?) {
        report.refused += 1
        for problem in problems { report.add(problem, of: id, line: line) }
    }

    private mutating func archived(_ document: JSONDocument) -> ArchivedSession? {
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
