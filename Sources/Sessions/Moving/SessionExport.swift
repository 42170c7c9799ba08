/// Exports everything as lines: a header, the documents of the process, a line for each session, and an end.
///
/// It reads some sessions of the store at a time, in the store's order. So memory does not grow, and sessions are
/// created, ended and written meanwhile. A session that exists all the time is in the export once, as it was committed
/// at some moment since the export began.
///
/// The line of a session has a cursor. An export that broke off can continue after the last line that arrived.
package actor SessionExport {
    private enum Part { case header, sessions, end, nothing }

    private let sessions: Sessions
    private let program: String
    private let after: SessionCursor?
    private var part = Part.header
    private var nextPage: SessionID?
    /// Places of the store that could not be read.
    private var skipped = 0
    private var digest = SHA256Hasher()
    /// How many sessions fill a piece, estimated by the previous piece.
    private var pageSize = SessionExport.firstPage
    /// How many sessions were written.
    package private(set) var count = 0

    private static let firstPage = 16
    private static let largestPage = 256
    /// Bytes of a piece. A single session may be larger.
    private static let pieceBytes = 64 << 10

    /// - Parameters:
    ///   - program: the program that writes it, for people.
    ///   - after: where to begin; `nil` for the first session.
    package init(of sessions: Sessions, program: String, after: SessionCursor? = nil) {
        self.sessions = sessions
        self.program = program
        self.after = after
        nextPage = after?.id
    }

    /// The next lines; `nil` at the end.
    ///
    /// - Throws: the store's error.
    package func next() async throws(SessionError) -> [UInt8]? {
        switch part {
        case .header:
            part = .sessions
            let environment = sessions.environment
            // An export that goes on has them in its first part.
            var process: [UInt8] = []
            do {
                if after == nil { process = try ArchivedProcess.line(environment) ?? [] }
            } catch {
                // Like a session that cannot be read.
                skipped += 1
            }
            digest.add(process)
            return ArchiveHeader.line(
                program: program, at: environment.timestamp(environment.clock.now()), sessions: sessions.registry.total,
                services: environment.definitions.catalog.services, hasProcess: !process.isEmpty, after: after)
                + process
        case .sessions: return try await nextSessions()
        case .end:
            part = .nothing
            return ArchiveEnd(sessions: count, digest: digest.digest.text(), skipped: skipped).line
        case .nothing: return nil
        }
    }

    private func nextSessions() async throws(SessionError) -> [UInt8]? {
        let environment = sessions.environment
        let page = try await sessions.stored(after: nextPage, limit: pageSize)
        nextPage = page.next
        if nextPage == nil { part = .end }
        skipped += page.skipped
        let now = environment.clock.now()
        var piece: [UInt8] = []
        for session in page.sessions.map(sessions.current) where session.end(environment.settings) > now {
            piece += ArchivedSession.line(session, environment)
            count += 1
        }
        digest.add(piece)
        pageSize = min(max(1, page.sessions.count * Self.pieceBytes / max(piece.count, 1)), Self.largestPage)
        return piece
    }
}
