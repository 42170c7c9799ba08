extension Sessions {
    /// Removes sessions whose time is over, until the task is cancelled, and tells the store what was used.
    package func run() async {
        while !Task.isCancelled {
            try? await environment.clock.sleep(milliseconds: Self.sweepInterval)
            // What the store refuses now is tried again next time.
            while !Task.isCancelled, await sweep() == Self.sweepBatch { await Task.yield() }
            while !Task.isCancelled, await sweepTasks() == Self.sweepBatch { await Task.yield() }
            do {
                try await saveUses()
            } catch {
                // Without its uses a session that has left memory looks older than it is.
                continue
            }
            await goThroughStore()
        }
        // The store is there for a little longer: sessions come back as they were used.
        try? await saveUses(all: true)
    }

    /// An expired session is refused at once anyway; this long it may take memory.
    private static let sweepInterval: Int64 = 1_000
    /// How much is done before others get their turn.
    private static let sweepBatch = 1_000
    /// How many stored sessions are looked at in one transaction of the store, for which writes of clients may have to wait.
    package static let storeBatch = 256
    /// When a store has refused to end a session, it is asked again after so long.
    private static let retryInterval: Int64 = 1_000

    /// Ends at most `limit` sessions whose time is over. Where the store outlives the process they stay in it for a while,
    /// and only leave memory.
    ///
    /// - Returns: how many it looked at; as many as `limit` when there may be more.
    @discardableResult
    package func sweep(limit: Int = 1_000) async -> Int {
        let now = environment.clock.now()
        let overdue = registry.takeOverdue(now: now, limit: limit, settings: environment.settings)
        for session in overdue {
            do {
                switch session.expire(now: now) {
                // Used at the last moment.
                case .open: registry.reconsider(session.id, at: session.stored.deadline(environment.settings))
                case .held: _ = try await end(session, .tokenReused)
                case .expired where environment.store.outlivesProcess: leave(session)
                case .expired, .ended: try await finish(session, .expired)
                }
            } catch {
                registry.reconsider(session.id, at: now + Self.retryInterval)
            }
        }
        return overdue.count
    }

    /// The session has expired, and the store keeps it for a while. Its place is given back when the store has deleted it.
    private func leave(_ session: Session) {
        if registry.retire(session.id) { announceEnd(of: session, .expired) }
    }

    /// Each second so many stored sessions are looked at, so that each is looked at within minutes; more where many have
    /// expired, or room is short.
    private func goThroughStore() async {
        let total = registry.total
        var rest = max(1_000, total / 1_000) * (isCrowded ? 16 : 1)
        while !Task.isCancelled {
            let seen = await sweepStore()
            rest -= seen.looked
            let isWorthMore = seen.looked > 0 && seen.count * 2 >= seen.looked
            // Fewer than asked for: it has come round.
            guard isWorthMore || (rest > 0 && seen.looked == Self.storeBatch) else { return }
            await Task.yield()
        }
    }

    /// Has the store delete sessions whose time has been over for ``SessionSettings/expiredRetention``. It looks at the
    /// next `limit` of its sessions.
    ///
    /// Nothing is deleted before the process has run for as long: a clock that was wrong when it started is right again by
    /// then, or somebody has noticed. When room is short, though, what has expired goes at once.
    @discardableResult
    package func sweepStore(limit: Int = storeBatch) async -> ExpiredSessions {
        let nothing = ExpiredSessions(count: 0, looked: 0)
        let now = environment.clock.now()
        let retention = isCrowded ? 0 : environment.settings.expiredRetention
        guard environment.store.outlivesProcess, now - startedAt >= retention else { return nothing }
        let query = ExpiryQuery(
            now: now, idleTimeout: environment.settings.idleTimeout, retention: retention, limit: limit,
            isInUse: { [registry] in registry.isInUse($0) })
        // What the store refuses is tried again next time.
        guard let expired = try? await environment.store.endExpired(query) else { return nothing }
        registry.giveBack(expired.count)
        endedCount.wrappingAdd(expired.count, ordering: .relaxed)
        return expired
    }

    /// Whether sessions that have expired may soon keep new ones from being made.
    private var isCrowded: Bool {
        let most = environment.settings.maxSessions
        return registry.total >= most - most / 4
    }

    /// Numbers for the outside, counted as things happen.
    package var statistics: SessionStatistics {
        SessionStatistics(
            live: registry.sessionCount, stored: environment.store.sessionCount,
            allowed: environment.settings.maxSessions, created: createdCount.load(ordering: .relaxed),
            ended: endedCount.load(ordering: .relaxed),
            journeys: environment.journeyCount.load(ordering: .relaxed),
            services: catalog.services.map { .init(name: $0.name, live: $0.live) },
            damage: (environment.store as? any FileStore)?.damage ?? StoreDamage())
    }
}

/// How much there is, and was.
package struct SessionStatistics: Sendable, Equatable {
    /// In memory now.
    package let live: Int
    /// In the store now, those that have expired and are not deleted yet among them.
    package let stored: Int
    /// As many as there may be.
    package let allowed: Int
    /// Since the process started.
    package let created: Int
    /// Since the process started. One that expires counts when it is deleted.
    package let ended: Int
    /// Those that run, in sessions in memory. One whose time is over counts until somebody looks at it.
    package let journeys: Int
    package let services: [Service]
    package var damage = StoreDamage()

    package struct Service: Sendable, Equatable {
        package let name: String
        package let live: Int
    }
}
