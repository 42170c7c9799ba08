import JSONDocument

extension Sessions {
    /// Makes a session. Its token is in the answer and nowhere else.
    ///
    /// - Parameter labels: an object of strings; nil for none.
    /// - Throws: ``SessionError/tooManySessions``, ``SessionError/invalid(_:)`` with pointers that begin with
    ///   `/labels`, or what the store says.
    package func create(
        labels: JSONDocument? = nil, mode: SessionMode = .bearer
    ) async throws(SessionError) -> (Session, SessionToken) {
        var attempts = 1
        while true {
            let new = try register(labels: labels, mode: mode)
            do {
                try await environment.store.create(new.stored)
            } catch .conflict where attempts < Self.mostAttempts {
                _ = withdraw(new, .conflict)
                attempts += 1
                continue
            } catch {
                throw withdraw(new, error)
            }
            announce(new)
            return (new.session, new.token)
        }
    }

    /// A store may take two ids for one (``SessionStore/create(_:)``); that this happens twice in a row is unheard of.
    private static let mostAttempts = 4

    /// The same without waiting.
    ///
    /// - Returns: nil when the store has to be waited for, and nothing has happened: ask the other one.
    package func createAtOnce(
        labels: JSONDocument? = nil, mode: SessionMode = .bearer
    ) throws(SessionError) -> (Session, SessionToken)? {
        guard let store = environment.promptStore else { return nil }
        let new = try register(labels: labels, mode: mode)
        do {
            try store.createAtOnce(new.stored)
        } catch {
            throw withdraw(new, error)
        }
        announce(new)
        return (new.session, new.token)
    }

    /// A session that is in memory, and not yet in the store.
    private struct NewSession {
        let session: Session
        let token: SessionToken
        let stored: StoredSession
    }

    /// Makes the session and adds it to those in memory, before the store has it: whoever comes upon it in the store
    /// then finds it here and need not load a second one. Until then nobody knows its id.
    private func register(labels: JSONDocument?, mode: SessionMode) throws(SessionError) -> NewSession {
        let settings = environment.settings
        let labels = if let labels { try SessionLabels.none.merging(labels, settings) } else { SessionLabels.none }
        guard registry.reserve(limit: settings.maxSessions) else { throw .tooManySessions }
        let now = environment.clock.now()
        let id = ids.next(at: now, random: environment.random)
        let token = SessionToken(for: id, random: environment.random)
        let record = SessionRecord(
            id: id, token: token.digest, createdAt: now, expiresAt: now + settings.lifetime, revision: 1,
            services: [], details: SessionDetails(labels: labels, mode: mode))
        let stored = StoredSession(record: record, lastUsedAt: now)
        let session = Session(stored, environment: environment)
        registry.insert(session, id: id, deadline: stored.deadline(settings))
        makeRoom(near: id)
        return NewSession(session: session, token: token, stored: stored)
    }

    /// The store did not take it.
    private func withdraw(_ new: NewSession, _ error: StoreError) -> SessionError {
        new.session.markEnded()
        if registry.remove(new.stored.record.id) != nil { registry.giveBack(1) }
        return SessionError(error)
    }

    private func announce(_ new: NewSession) {
        createdCount.wrappingAdd(1, ordering: .relaxed)
        environment.notify(new.stored.record.id, [.created], revision: 1)
    }
}
