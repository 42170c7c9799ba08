import JSONDocument

/// Takes sessions in from an archive that comes in pieces, each by itself: one that is damaged, or does not fit here, is
/// refused and named, and the others are none the worse for it.
///
/// Sessions are committed in groups. When the archive breaks off, or the store is full, what was committed stays, and the
/// same archive sent again goes on from there, for what is here already is skipped.
package struct SessionImport {
    /// What is done with a session that is here already.
    package enum Conflict: String, Sendable, CaseIterable {
        /// The one that is here stays, whatever became of it.
        case skip
        /// The one that comes takes its place. Entity tags go on from both, so that none comes back.
        case replace
    }

    /// The first line is not that of an archive that this program reads.
    package struct NotAnArchive: Error, Sendable {
        package let problem: ArchiveProblem
    }

    private let sessions: Sessions
    private let conflict: Conflict
    private let isTrial: Bool
    private var splitter: LineSplitter
    /// Of the archive, empty ones among them.
    private var line = 0
    /// Lines that stand for sessions, good or not.
    private var sessionLines = 0
    private var hasHeader = false
    private var end: ArchiveEnd?
    private var digest = SHA256Hasher()
    private var isWhole = true
    private var group: [ArchivedSession] = []
    private var groupBytes = 0
    package private(set) var report = ImportReport()

    /// Enough for a sync to be shared by many; and what is in memory at a time.
    private static let largestGroup = 128
    private static let largestGroupBytes = 1 << 20

    /// - Parameter isTrial: whether to look at everything and change nothing.
    package init(into sessions: Sessions, conflict: Conflict = .skip, isTrial: Bool = false) {
        self.sessions = sessions
        self.conflict = conflict
        self.isTrial = isTrial
        // A document may double in size where it is quoted.
        let documents = sessions.catalog.services.count * (sessions.settings.maxDocumentSize * 2 + 1_024)
        splitter = LineSplitter(limit: documents + Self.roomForTheRest)
    }

    /// Labels, retired tokens, names.
    private static let roomForTheRest = 128 << 10

    /// Takes in what has come.
    ///
    /// - Throws: ``NotAnArchive``; ``SessionError`` when nothing more can be taken in. The report is right even so.
    nonisolated(nonsending) package mutating func take(_ piece: [UInt8]) async throws {
        for line in splitter.lines(in: piece) { try await take(line) }
    }

    /// Nothing more comes.
    ///
    /// - Parameter isAtEnd: whether that is the end, and not merely where it broke off.
    nonisolated(nonsending) package mutating func finish(isAtEnd: Bool = true) async throws {
        if isAtEnd, let line = splitter.finish() { try await take(line) }
        try await commit()
        guard isAtEnd else { return }
        guard hasHeader else { throw NotAnArchive(problem: ArchiveProblem(detail: "there is nothing in it")) }
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

    /// A line for a session has come.
    private mutating func note(_ bytes: [UInt8]) {
        if end != nil {
            isWhole = false
            report.add(ArchiveProblem(detail: "stands behind the end"), line: line)
        }
        sessionLines += 1
        digest.add(bytes)
        digest.add([UInt8(ascii: "\n")])
    }

    private mutating func takeEnd(_ end: ArchiveEnd) {
        let isTwice = self.end != nil
        self.end = end
        guard !isTwice, end.sessions == sessionLines, end.digest == digest.digest.text() else {
            isWhole = false
            let detail = "the archive had \(end.sessions) sessions, and is not now as it was written"
            return report.add(ArchiveProblem(pointer: "/end", detail: detail), line: line)
        }
        guard end.skipped > 0 else { return }
        let detail = "\(end.skipped) places of the store could not be read for the export: what was there is missing"
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
        // Of two in one group nobody could say which is the first.
        if group.contains(where: { $0.id == session.id }) { try await commit() }
        group.append(session)
        groupBytes += size
        if group.count >= Self.largestGroup || groupBytes >= Self.largestGroupBytes { try await commit() }
    }

    /// Commits the group: all at once, which the store writes together.
    nonisolated(nonsending) private mutating func commit() async throws {
        let group = self.group
        self.group = []
        groupBytes = 0
        let (sessions, conflict, isTrial) = (sessions, conflict, isTrial)
        let outcomes = await withTaskGroup(of: (Int, Result<Sessions.Arrival, SessionError>).self) { tasks in
            for (place, session) in group.enumerated() {
                tasks.addTask {
                    do throws(SessionError) {
                        return (place, .success(try await sessions.receive(session, conflict, isTrial: isTrial)))
                    } catch {
                        return (place, .failure(error))
                    }
                }
            }
            return await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var failure: SessionError?
        for (place, session) in group.enumerated() {
            switch outcomes[place] {
            case .success(let arrival): report.count(arrival)
            case .failure(let error): failure = failure ?? error
            case nil: break
            }
            // What comes behind one that failed is to be sent again.
            if failure == nil { report.last = session.cursor }
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
