import JSONDocument

extension Sessions {
    /// Creates a session. Its token is in the result and nowhere else.
    ///
    /// - Parameters:
    ///   - labels: an object of strings; `nil` for none.
    ///   - once: the request, if its copies must not be executed again; then ``ExecutedBefore`` may come in place of
    ///     the result.
    ///   - limit: the most lone replays that the store keeps.
    ///   - done: called once, before this returns or later on a thread of the store, where it must take no time. It
    ///     gets ``SessionError/tooManySessions``, ``SessionError/invalid(_:)`` with pointers that begin with `/labels`,
    ///     or what the store says.
    package func create(
        labels: JSONDocument? = nil, mode: SessionMode = .bearer, once: Once<(Session, SessionToken)>? = nil,
        mostLone limit: Int = .max, then done: @escaping Created
    ) {
        do {
            let labels = try labels.map { labels throws(SessionError) in
                try SessionLabels.none.merging(labels, settings)
            }
            create(Wish(labels: labels ?? .none, mode: mode, once: once, mostLone: limit, done: done))
        } catch {
            done(.failure(error))
        }
    }

    /// Called with a new session and its token.
    package typealias Created = @Sendable (Result<(Session, SessionToken), any Error>) -> Void

    /// A session to create.
    private struct Wish: Sendable {
        let labels: SessionLabels
        let mode: SessionMode
        let once: Once<(Session, SessionToken)>?
        let mostLone: Int
        let done: Created
        /// Begins with 1.
        var attempt = 1

        var next: Wish {
            var next = self
            next.attempt += 1
            return next
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

    private func create(_ wish: Wish) {
        guard registry.reserve(limit: settings.maxSessions) else { return createInPlaceOfOther(wish) }
        var new = register(labels: wish.labels, mode: wish.mode)
        let finish = { @Sendable [self] (new: NewSession, failure: StoreError?) in
            guard let failure else {
                createdCount.wrappingAdd(1, ordering: .relaxed)
                if let notice = new.notice { environment.tasks.tell([.begun(notice)]) }
                return wish.done(.success((new.session, new.token)))
            }
            withdraw(new)
            if case .conflict = failure, wish.attempt < Self.mostAttempts { return create(wish.next) }
            wish.done(.failure(SessionError(failure)))
        }
        guard let replay = wish.once?.replay((new.session, new.token)) else {
            return environment.store.create(new.stored, telling: new.notice) { [new] in finish(new, $0) }
        }
        new.keep(replay.entry)
        let once = OnceCreated(
            replay: replay, now: environment.clock.now(), mostLone: wish.mostLone, notice: new.notice)
        environment.store.replays.create(new.stored, once: once) { [self, new] outcome in
            switch outcome {
            case .success(nil): finish(new, nil)
            case .failure(let failure): finish(new, failure)
            case .success(let other?):
                withdraw(new)
                guard case .session(let id) = other.content else {
                    return wish.done(.failure(SessionError.contention))
                }
                wish.done(.failure(ExecutedBefore(.madeSession(id, fingerprint: other.fingerprint))))
            }
        }
    }

    /// All places are taken. Ends the session that is missed least, and creates one in its place. So a client that
    /// creates sessions in masses does not lock out the others.
    private func createInPlaceOfOther(_ wish: Wish) {
        let full = SessionError.tooManySessions
        guard wish.attempt < Self.mostAttempts else { return wish.done(.failure(full)) }
        let shedding = Shedding(now: environment.clock.now())
        let mustSearch = registry.beginSearch(now: shedding.now)
        // Better ones may be found.
        let candidate = mustSearch ? nil : registry.takeCandidate(shedding, settings)
        guard mustSearch || candidate != nil else { return wish.done(.failure(full)) }
        Task {
            do {
                if mustSearch { registry.search(shedding, settings) }
                let found = candidate ?? registry.takeCandidate(shedding, settings)
                guard let id = found ?? environment.remains.takeFirst() else { throw full }
                if let other = try await load(id) {
                    let isMissed = { @Sendable [settings] (state: Session.State) in
                        state.candidate(shedding, settings) != nil
                    }
                    if try await end(other, .displaced, if: isMissed) { shedCount.wrappingAdd(1, ordering: .relaxed) }
                } else if try await !removeRemains(of: id) {
                    // It has ended since it was found. That is no attempt.
                    return createInPlaceOfOther(wish)
                }
                create(wish.next)
            } catch {
                wish.done(.failure(error))
            }
        }
    }

    /// A store may refuse an id that is too like another (``SessionStore/create(_:then:)``), which is improbable even
    /// once.
    private static let mostAttempts = 4

    /// A session that is in memory and not yet in the store.
    private struct NewSession: Sendable {
        let session: Session
        let token: SessionToken
        private(set) var stored: StoredSession
        let notice: StoredTask?

        /// It keeps the response to the request that makes it.
        mutating func keep(_ replay: ReplayEntry) {
            let record = SessionRecord(stored.record, keeping: replay)
            stored = StoredSession(record: record, lastUsedAt: stored.lastUsedAt)
            session.state.withLock { $0.record = record }
            session.environment.countBytes(replay.size)
        }
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
        let notice = environment.notice(.created, of: id, revision: record.revision, userID: nil, at: now)
        return NewSession(session: session, token: token, stored: stored, notice: notice)
    }

    /// The store has not taken the session.
    private func withdraw(_ new: NewSession) {
        new.session.markEnded()
        if registry.remove(new.stored.record.id) != nil { registry.giveBack(1) }
    }

    /// What was kept of a request that names no session.
    package func loneReplay(_ id: ShortDigest) async throws(SessionError) -> LoneReplay? {
        let now = environment.clock.now()
        return try await environment.ask { store throws(StoreError) in
            try await store.replays.loneReplay(id, now: now)
        }
    }

    /// Keeps the response to a request that names no session.
    ///
    /// - Returns: what a copy of the request has left before.
    package func keep(_ replay: LoneReplay, atMost limit: Int) async throws(SessionError) -> LoneReplay? {
        let now = environment.clock.now()
        return try await environment.ask { store throws(StoreError) in
            try await store.replays.keep(replay, now: now, atMost: limit)
        }
    }
}
