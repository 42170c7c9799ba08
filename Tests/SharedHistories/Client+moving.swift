import JSONDocument
import SeededRandomness

@testable import Sessions

/// Ends and imports.
extension Client {
    /// Ends the session, imports it after its end, or imports it in its own place.
    mutating func move(_ subject: Subject, _ server: SharedServer) async throws -> Outcome {
        guard let stage = subject.chain.claimMove() else { return .answered }
        let isEnding = stage == .alive && Bool.random(using: &random)
        if isEnding {
            try await Self.repeated(self) { server in
                if let session = try await server.sessions.session(subject.id) {
                    try await server.sessions.end(session)
                }
            }
            subject.chain.finishMove(.ended)
            return .answered
        }
        let archive = Archive(subject)
        try await Self.repeated(self) { server in
            _ = try await server.sessions.receive(archive.session(server.sessions), .replace, isTrial: false)
        }
        let write = tally.nextWrite * MirrorChange.allCases.count + MirrorChange.stays.rawValue
        try await Self.begin(subject, write, self)
        subject.chain.finishMove(.alive)
        return .answered
    }

    /// Begins the chain of a session that has none.
    static func begin(_ subject: Subject, _ era: Int, _ client: Client) async throws {
        try await repeated(client) { server in
            guard let session = try await server.sessions.session(subject.id) else { return }
            try await session.transact { pending in
                try session.environment.withLocator(on: &pending) { locator in
                    let chain = try locator.resolve(DocumentService.key("chain"))
                    if Chain(chain.document).era == 0 { chain.document = Chain(era: era).document }
                }
            }
        }
    }

    /// Does something at one server after the other until one says that it is done.
    static func repeated(_ client: Client, _ body: (SharedServer) async throws -> Void) async throws {
        for attempt in 0... {
            do {
                return try await body(client.fleet[attempt % Fleet.size])
            } catch let error as SessionError where error.isTemporary || error == .ended {
                // Another operation, which fails as well, may be what helps.
                client.tally.count(isAnswered: false)
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// The archive of a session that nobody has written to.
    private struct Archive {
        private let subject: Subject

        init(_ subject: Subject) { self.subject = subject }

        func session(_ sessions: Sessions) throws -> ArchivedSession {
            let now = sessions.environment.clock.now()
            let stored = StoredSession(
                record: SessionRecord(
                    id: subject.id, token: subject.token.digest, createdAt: now - 1, expiresAt: now + 40 * 3_600_000,
                    revision: 1, services: [], details: .none), lastUsedAt: now - 1)
            let line = ArchivedSession.line(stored, sessions.environment)
            return try ArchivedSession(try JSONDocument(parsing: line), sessions.environment)
        }
    }
}
