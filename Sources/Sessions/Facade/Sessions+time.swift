extension Sessions {
    /// Removes sessions whose time is over, until the task is cancelled, and tells the store what was used.
    package func run() async {
        while !Task.isCancelled {
            try? await environment.clock.sleep(milliseconds: Self.sweepInterval)
            // What the store refuses now is tried again next time.
            while !Task.isCancelled, await sweep() == Self.sweepBatch { await Task.yield() }
            do {
                try await saveUses()
            } catch {
                // Without its uses a session that has left memory looks older than it is.
                continue
            }
            while !Task.isCancelled, await sweepStore() { await Task.yield() }
        }
        // The store is there for a little longer: sessions come back as they were used.
        try? await saveUses()
    }

    /// An expired session is refused at once anyway; this long it may take memory.
    private static let sweepInterval: Int64 = 1_000
    /// How much is done before others get their turn.
    private static let sweepBatch = 1_000
    /// How many sessions that are not in memory are looked at in one transaction of the store, which writes of clients
    /// may have to wait for.
    package static let storeBatch = 128
    /// When a store has refused to end a session, it is asked again after so long.
    private static let retryInterval: Int64 = 1_000

    /// Ends at most `limit` sessions whose time is over.
    ///
    /// - Returns: how many it looked at; as many as `limit` when there may be more.
    @discardableResult
    package func sweep(limit: Int = 1_000) async -> Int {
        let now = environment.clock.now()
        let overdue = registry.takeOverdue(now: now, limit: limit, settings: environment.settings)
        for session in overdue {
            let isExpired = session.markExpired(now: now)
            guard isExpired || session.isHeld else {
                // Used at the last moment.
                registry.reconsider(session.id, at: session.stored.deadline(environment.settings))
                continue
            }
            do {
                if isExpired { try await finish(session, .expired) } else { _ = try await end(session, .tokenReused) }
            } catch {
                registry.reconsider(session.id, at: now + Self.retryInterval)
            }
        }
        return overdue.count
    }

    /// Ends sessions whose time is over and that are not in memory, some of them.
    ///
    /// - Returns: whether there may be more. What the store refuses is tried again next time.
    @discardableResult
    package func sweepStore(limit: Int = storeBatch) async -> Bool {
        guard environment.store.outlivesProcess else { return false }
        let query = ExpiryQuery(
            now: environment.clock.now(), idleTimeout: environment.settings.idleTimeout, limit: limit,
            isInUse: { [registry] in registry.isInUse($0) })
        guard let expired = try? await environment.store.endExpired(query) else { return false }
        registry.giveBack(expired.count)
        endedCount.wrappingAdd(expired.count, ordering: .relaxed)
        for session in expired.sessions {
            let record = session.record
            // Somebody may just have looked at it.
            registry.remove(record.id)?.markEnded()
            guard !environment.observers.isEmpty else { continue }
            let removed = record.services.sorted { $0.birth > $1.birth }
                .map { SessionChange.serviceRemoved(name: catalog.services[Int($0.service)].name) }
            environment.notify(record.id, removed + [.ended(.expired)], revision: record.revision)
        }
        return expired.looked == limit
    }

    /// Numbers for the outside, counted as things happen.
    package var statistics: SessionStatistics {
        SessionStatistics(
            live: registry.sessionCount, created: createdCount.load(ordering: .relaxed),
            ended: endedCount.load(ordering: .relaxed),
            journeys: environment.journeyCount.load(ordering: .relaxed),
            services: catalog.services.map { .init(name: $0.name, live: $0.live) },
            damage: environment.store.damage)
    }
}

/// How much there is, and was.
package struct SessionStatistics: Sendable, Equatable {
    /// In memory now.
    package let live: Int
    /// Since the process started.
    package let created: Int
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
