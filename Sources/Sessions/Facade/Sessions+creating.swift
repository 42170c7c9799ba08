import JSONDocument

extension Sessions {
    /// Creates a session. Its token is in the result and nowhere else.
    ///
    /// - Parameters:
    ///   - labels: an object of strings; `nil` for none.
    ///   - done: called once, before this returns or later on a thread of the store, where it must take no time. It
    ///     gets ``SessionError/tooManySessions``, ``SessionError/invalid(_:)`` with pointers that begin with `/labels`,
    ///     or what the store says.
    package func create(
        labels: JSONDocument? = nil, mode: SessionMode = .bearer,
        then done: @escaping @Sendable (Result<(Session, SessionToken), any Error>) -> Void
    ) {
        do {
            let labels = try labels.map { labels throws(SessionError) in
                try SessionLabels.none.merging(labels, settings)
            }
            try create(labels ?? .none, mode, attempt: 1, then: done)
        } catch {
            done(.failure(error))
        }
    }

    /// The same, waiting.
    package func create(
        labels: JSONDocument? = nil, mode: SessionMode = .bearer
    ) async throws -> (Session, SessionToken) {
        try await withUnsafeThrowingContinuation { waiting in
            create(labels: labels, mode: mode) { waiting.resume(with: $0) }
        }
    }

    private func create(
        _ labels: SessionLabels, _ mode: SessionMode, attempt: Int,
        then done: @escaping @Sendable (Result<(Session, SessionToken), any Error>) -> Void
    ) throws(SessionError) {
        guard registry.reserve(limit: settings.maxSessions) else {
            return try createInPlaceOfOther(labels, mode, attempt: attempt, then: done)
        }
        let new = register(labels: labels, mode: mode)
        environment.store.create(new.stored) { [self] failure in
            guard let failure else {
                announce(new)
                return done(.success((new.session, new.token)))
            }
            let error = withdraw(new, failure)
            guard case .conflict = failure, attempt < Self.mostAttempts else { return done(.failure(error)) }
            do {
                try create(labels, mode, attempt: attempt + 1, then: done)
            } catch {
                done(.failure(error))
            }
        }
    }

    /// All places are taken. Ends the session that is missed least, and creates one in its place. So a client that
    /// creates sessions in masses does not lock out the others.
    private func createInPlaceOfOther(
        _ labels: SessionLabels, _ mode: SessionMode, attempt: Int,
        then done: @escaping @Sendable (Result<(Session, SessionToken), any Error>) -> Void
    ) throws(SessionError) {
        guard attempt < Self.mostAttempts else { throw .tooManySessions }
        let shedding = Shedding(now: environment.clock.now())
        let mustSearch = registry.beginSearch(now: shedding.now)
        let candidate = registry.takeCandidate(shedding, settings)
        guard mustSearch || candidate != nil else { throw .tooManySessions }
        Task {
            do {
                if mustSearch { registry.search(shedding, settings) }
                guard let id = candidate ?? registry.takeCandidate(shedding, settings) else {
                    throw SessionError.tooManySessions
                }
                // It has ended since it was found. That is no attempt.
                guard let other = try await load(id) else {
                    return try createInPlaceOfOther(labels, mode, attempt: attempt, then: done)
                }
                if try await end(other, .expired, shedding) { shedCount.wrappingAdd(1, ordering: .relaxed) }
                try create(labels, mode, attempt: attempt + 1, then: done)
            } catch {
                done(.failure(error))
            }
        }
    }

    /// A store may refuse an id that is too like another (``SessionStore/create(_:then:)``), which is improbable even
    /// once.
    private static let mostAttempts = 4

    /// A session that is in memory and not yet in the store.
    private struct NewSession {
        let session: Session
        let token: SessionToken
        let stored: StoredSession
    }

    /// Creates the session and adds it to memory before the store has it. A caller that finds it in the store then
    /// finds it here and does not load it again. Until then no client knows its id.
    private func register(labels: SessionLabels, mode: SessionMode) -> NewSession {
        let settings = environment.settings
        let now = environment.clock.now()
        let id = ids.next(at: now, random: environment.random)
        let token = SessionToken(for: id, random: environment.random)
        let record = SessionRecord(
            id: id, token: token.digest, createdAt: now, expiresAt: now + settings.lifetime, revision: 1,
            services: [], details: SessionDetails(labels: labels, mode: mode))
        let stored = StoredSession(record: record, lastUsedAt: now)
        let session = Session(stored, environment: environment, generation: environment.generation)
        registry.insert(session, id: id, deadline: stored.deadline(settings))
        registry.makeRoom(near: id, environment)
        return NewSession(session: session, token: token, stored: stored)
    }

    /// The store refused the session.
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
