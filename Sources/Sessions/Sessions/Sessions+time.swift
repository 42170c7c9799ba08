import Synchronization

extension Sessions {
    /// Removes expired sessions and tells the store of uses, until the task is cancelled.
    package func run() async {
        var forgetsAt = environment.clock.now()
        while !Task.isCancelled {
            try? await environment.clock.sleep(milliseconds: Self.sweepInterval)
            countStored()
            if forgetsAt <= environment.clock.now() {
                forgetsAt = environment.clock.now() + 60_000
                forgetFlows()
                await removeRemains()
            }
            // What the store refuses now is tried again next time.
            while !Task.isCancelled, await sweep() == Self.sweepBatch { await Task.yield() }
            await restoreTasks()
            while !Task.isCancelled, await sweepTasks() == Self.sweepBatch { await Task.yield() }
            do {
                try await saveUses()
            } catch {
                // Without its uses, a session that has left memory looks older than it is.
                continue
            }
            await endUnnoticed()
            await goThroughStore()
        }
        // The store is still open. After a restart, sessions are as old as their last use says.
        try? await saveUses(all: true)
    }

    /// An expired session is refused at once; it may stay in memory this long.
    private static let sweepInterval: Int64 = 1_000
    /// How many sessions are handled before other tasks get their turn.
    private static let sweepBatch = 1_000
    /// How many stored sessions the store looks at in one transaction. Clients' writes may have to wait for it.
    package static let storeBatch = 256
    /// How often memory looks at an expired session that stays for its work.
    private static let keptInterval: Int64 = 60_000
    /// How long to wait after the store has refused to end a session.
    private static let retryInterval: Int64 = 1_000

    /// Ends at most `limit` expired sessions. If the store outlives the process, they only leave memory and stay in the
    /// store for a while.
    ///
    /// - Returns: how many sessions it looked at; with `limit` there may be more.
    @discardableResult
    package func sweep(limit: Int = 1_000) async -> Int {
        let now = environment.clock.now()
        let (count, kept) = await sweepOverdue(now: now, limit: limit)
        // Now that nothing here refers to them. Those that are in use follow.
        for id in kept where !registry.letLeave(id) { registry.reconsider(id, at: now + Self.retryInterval) }
        return count
    }

    /// - Returns: how many it looked at, and those that stay in the store for their work.
    private func sweepOverdue(now: Int64, limit: Int) async -> (count: Int, kept: [SessionID]) {
        let overdue = registry.takeOverdue(now: now, limit: limit, settings: environment.settings)
        var kept: [SessionID] = []
        for session in overdue {
            do {
                // It may be in use elsewhere.
                if environment.isShared, try await caughtUp(session) == nil { continue }
                // What is due by its end comes first.
                if session.hasWorkAtEnd(now: now) {
                    registry.reconsider(session.id, at: now + Self.retryInterval)
                    continue
                }
                switch session.expire(now: now) {
                // It was used at the last moment.
                case .open:
                    let deadline = session.stored.deadline(settings)
                    registry.reconsider(session.id, at: settings.look(before: deadline, from: now))
                case .held: _ = try await end(session, .tokenReused)
                case .kept(let end):
                    if environment.givesNotice, mayTrustClock(since: session.stored.deadline(settings), now: now) {
                        _ = try await session.loseTokens(.expired)
                    }
                    if environment.store.outlivesProcess {
                        kept.append(session.id)
                    } else {
                        // Its work may be done before.
                        registry.reconsider(session.id, at: min(end, now + Self.keptInterval))
                    }
                case .expired where environment.store.outlivesProcess: leave(session)
                case .expired, .ended: try await finish(session, .expired)
                }
            } catch {
                registry.reconsider(session.id, at: now + Self.retryInterval)
            }
        }
        return (overdue.count, kept)
    }

    /// Whether a session has expired while this process ran, or the process has run for so long that a clock that was
    /// wrong at start has been corrected.
    private func mayTrustClock(since deadline: Int64, now: Int64) -> Bool {
        deadline >= startedAt || now - startedAt >= settings.expiredRetention
    }

    /// The session has expired, and the store keeps it for a while. It counts until the store has deleted it.
    private func leave(_ session: Session) {
        if registry.retire(session.id) { session.tellWatchers(of: .expired) }
        if environment.givesNotice { unnoticed.withLock { $0.append(session.id) } }
    }

    /// Ends expired sessions that have left memory, to tell back ends of it. By the clock of this process they could be
    /// used a while ago, so a start with a wrong clock does not end them all.
    package func endUnnoticed() async {
        guard unnoticed.withLock({ !$0.isEmpty }), environment.store.trouble == nil else { return }
        let ids = unnoticed.withLock { ids in
            defer { ids = [] }
            return ids
        }
        let query = ExpiryQuery(
            now: environment.clock.now(), idleTimeout: settings.idleTimeout, retention: 0, limit: ids.count,
            isInUse: { [registry] in registry.isInUse($0) })
        // Together, because a store writes what comes together at once.
        await withDiscardingTaskGroup { group in
            for id in ids { group.addTask { await self.endUnnoticed(id, query) } }
        }
    }

    private func endUnnoticed(_ id: SessionID, _ query: ExpiryQuery) async {
        do {
            if try await environment.endOverdue(id, query) { return countEnd() }
            // The store does not know its last use yet.
            guard registry[id] == nil, registry.isInUse(id) else { return }
        } catch {}
        unnoticed.withLock { $0.append(id) }
    }

    /// Looks at so many stored sessions each second that each is looked at within minutes; at more when many have
    /// expired or space is short.
    private func goThroughStore() async {
        let total = registry.total
        var rest = max(1_000, total / 1_000) * (isCrowded ? 16 : 1)
        while !Task.isCancelled {
            let seen = await sweepStore()
            rest -= seen.looked
            let isWorthMore = seen.looked > 0 && seen.count * 2 >= seen.looked
            // Fewer than requested: the round is complete.
            guard isWorthMore || (rest > 0 && seen.looked == Self.storeBatch) else { return }
            await Task.yield()
        }
    }

    /// Makes the store delete sessions that expired ``SessionSettings/expiredRetention`` ago. It looks at the next
    /// `limit` of its sessions.
    ///
    /// Nothing is deleted before the process has run for as long: a clock that was wrong at start has been corrected or
    /// noticed by then. When space is short, expired sessions are deleted at once.
    ///
    /// In a store that is shared, sessions that a server of an earlier version was the last to write get their times,
    /// and the index of journeys has what a server has not told it before it ended.
    @discardableResult
    package func sweepStore(limit: Int = storeBatch) async -> ExpiredSessions {
        let nothing = ExpiredSessions(count: 0, looked: 0)
        let now = environment.clock.now()
        let (settings, isCrowded) = (environment.settings, isCrowded)
        let isTooEarly = !isCrowded && now - startedAt < settings.expiredRetention
        var retention = isCrowded || environment.givesNotice ? 0 : settings.expiredRetention
        guard environment.store.outlivesProcess else { return nothing }
        if isTooEarly { retention = .max }
        var query = ExpiryQuery(
            now: now, idleTimeout: settings.idleTimeout, retention: retention, limit: limit,
            isInUse: { [registry] in registry.isInUse($0) })
        if isCrowded { query.sheddingLifetime = settings.lifetime }
        let untimed = Mutex<[SessionID]>([])
        query.onUntimed = { id in untimed.withLock { $0.append(id) } }
        query.onUnplaced = { [environment] in environment.noteMoved($0) }
        // What the store refuses is tried again next time.
        guard let expired = try? await environment.endExpired(query) else { return nothing }
        registry.shedList.withLock { $0.add(expired.candidates) }
        registry.giveBack(expired.count)
        keptSeen.wrappingAdd(expired.kept, ordering: .relaxed)
        // Fewer than requested: the round is complete.
        if expired.looked < limit { keptStored.store(keptSeen.exchange(0, ordering: .relaxed), ordering: .relaxed) }
        endedCount.wrappingAdd(expired.count, ordering: .relaxed)
        await deriveTimes(of: untimed.withLock(\.self))
        return expired
    }

    /// Whether expired sessions may soon prevent new ones.
    private var isCrowded: Bool {
        let most = environment.settings.maxSessions
        return registry.total >= most - most / 4
    }

    /// Counters of sessions, kept up to date by every change.
    package var statistics: SessionStatistics {
        SessionStatistics(
            live: registry.sessionCount, stored: storedCount,
            allowed: environment.settings.maxSessions, created: createdCount.load(ordering: .relaxed),
            ended: endedCount.load(ordering: .relaxed),
            counts: environment.counts.withLock(\.self), watchers: environment.watches.count,
            services: catalog.services.map { .init(name: $0.name, live: $0.live) },
            damage: (environment.store as? any FileStore)?.damage ?? StoreDamage(),
            shed: shedCount.load(ordering: .relaxed), stolen: stolenCount.load(ordering: .relaxed),
            bytes: environment.store.documentBytes,
            residentBytes: environment.residentBytes.load(ordering: .relaxed),
            tasksHeld: environment.heldCount.load(ordering: .relaxed),
            tasksUndone: environment.undoneCount.load(ordering: .relaxed),
            kept: environment.store.outlivesProcess
                ? keptStored.load(ordering: .relaxed) : environment.keptCount.load(ordering: .relaxed),
            due: dueCount.load(ordering: .relaxed), dueLag: dueLag.load(ordering: .relaxed))
    }
}

/// Counters of sessions.
package struct SessionStatistics: Sendable, Equatable {
    /// In memory now.
    package let live: Int
    /// In the store now, including expired sessions that are not deleted yet.
    package let stored: Int
    /// The limit.
    package let allowed: Int
    /// Since the process started.
    package let created: Int
    /// Since the process started. An expired session counts when it is deleted.
    package let ended: Int
    /// Of all sessions in the store, when they were last counted (``Sessions/countStore()``).
    package var counts = StoreCounts()
    /// Clients that watch sessions now.
    package let watchers: Int
    package let services: [Service]
    package var damage = StoreDamage()
    /// Since the process started: sessions that ended for new ones.
    package var shed = 0
    /// Since the process started: sessions that ended because a replaced token was used.
    package var stolen = 0
    /// Of all sessions together; `nil` when the store has no limit for them.
    package var bytes: DocumentBytes?
    /// The bytes that the sessions in memory take, about.
    package var residentBytes = 0
    /// Since the process started: results of tasks that were kept for an operator.
    package var tasksHeld = 0
    /// Since the process started: tasks for which no journey waits, and that nobody has done.
    package var tasksUndone = 0
    /// Expired sessions that stay for work that a journey waits for. In a store that outlives the process, of the last
    /// round through it.
    package var kept = 0
    /// Since the process started: sessions that this server looked at because time does something to a journey.
    package var due = 0
    /// By how many milliseconds the oldest of them was late when they were looked for last.
    package var dueLag: Int64 = 0

    package struct Service: Sendable, Equatable {
        package let name: String
        package let live: Int
    }
}

extension Sessions {
    /// How many uses go to the store in one transaction. It takes the store's writer a few milliseconds, for which
    /// other writes and loads may have to wait.
    package static let useBatch = 256
    package static let mostRefusals = 9

    /// Tells the store when sessions were last used, if that is due, in the order of their ids: neighbours in the store
    /// are written together.
    ///
    /// What the store refuses is tried again next time. A part of it may be away, such as a node of a cluster, so the
    /// others are sent as well, until several in a row are refused.
    ///
    /// - Parameter all: whether to send every use that the store does not know, due or not.
    package func saveUses(all: Bool = false) async throws(SessionError) {
        guard environment.savesUses else { return }
        var (place, refusals) = (0, 0)
        var last: StoreError?
        while let uses = registry.takeUses(from: &place, all: all) {
            var rest = uses[...]
            while !rest.isEmpty {
                let batch = rest.prefix(Self.useBatch)
                do throws(StoreError) {
                    try await environment.store.touch(Array(batch))
                    registry.finishSaving(batch, isDone: true)
                    refusals = 0
                } catch {
                    (last, refusals) = (error, refusals + 1)
                    guard refusals < Self.mostRefusals else {
                        registry.finishSaving(rest, isDone: false)
                        throw SessionError(error)
                    }
                    registry.finishSaving(batch, isDone: false)
                }
                rest = rest.dropFirst(batch.count)
            }
        }
        if let last { throw SessionError(last) }
    }

    /// How many pages are returned at once. Writes wait for a few milliseconds meanwhile.
    private static let pagesAtOnce = 256

    /// Returns a part of the store's free space to the system; `nil` when the store has no file.
    package func giveBackSpace() async throws(SessionError) -> SpaceGivenBack? {
        try await environment.ask { store throws(StoreError) in
            try await (store as? any FileStore)?.giveBackSpace(atMost: Self.pagesAtOnce)
        }
    }

    /// Looks once a second at what each watcher waits for, until the task is cancelled.
    package func runWatches() async {
        let clock = environment.clock
        let interval = 1_000 / Int64(SessionWatches.partCount)
        var (part, lookedAt) = (0, clock.now())
        while !Task.isCancelled {
            try? await clock.sleep(milliseconds: environment.watches.count == 0 ? 1_000 : interval)
            let now = clock.now()
            // None twice, however late it is.
            lookedAt = max(lookedAt, now - 1_000)
            while lookedAt + interval <= now {
                lookedAt += interval
                part = (part + 1) % SessionWatches.partCount
                lookAtWatches(part, now: now)
            }
        }
    }

    private func lookAtWatches(_ part: Int, now: Int64) {
        let watches = environment.watches
        for id in watches.tick(part, now: now) where settings.watchingExtends {
            if let session = registry[id] { noteUse(of: session) }
        }
        for watch in watches.idle(in: part, now: now) {
            if let session = registry[watch.session] {
                session.dropWatch(watch, now: now)
            } else {
                _ = watches.drop(watch, now: now)
                if watches[watch.session] == nil { environment.store.unfollow(watch.session) }
            }
        }
    }

    /// Ends all watchers, and accepts no more. The server stops.
    package func stopWatching() { environment.watches.stop() }
}
