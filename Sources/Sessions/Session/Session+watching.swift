extension Session {
    /// Watches the session: the watcher gets every commit after the resume point, in order.
    ///
    /// Other processes make commits that are not in the history of this one. A watcher that asks for these gets what
    /// they have changed as one commit.
    ///
    /// - Parameters:
    ///   - point: a revision; `nil` for the current one.
    ///   - token: the token of the caller, if it has one. When it ends, the watcher ends.
    ///   - address: the same number for all clients at one address; see ``WatcherLimits``.
    /// - Throws: ``WatchError``; ``SessionError/ended``, ``SessionError/unauthenticated``.
    package func watch(
        after point: UInt64? = nil, token: TokenDigest?, from address: UInt64 = 0
    ) throws -> SessionWatcher {
        var missed = missedOfProcess(since: point)
        while true {
            do {
                return try watch(after: point, missed, token, address)
            } catch WatchError.resumePointGone {
                // There may have been another commit meanwhile.
                guard environment.isShared, let point, let commit = try changes(since: point),
                    commit.revision > missed?.revision ?? 0
                else { throw WatchError.resumePointGone }
                missed = commit
            }
        }
    }

    private func watch(
        after point: UInt64?, _ missed: WatchedCommit?, _ token: TokenDigest?, _ address: UInt64
    ) throws -> SessionWatcher {
        let (watcher, displaced) = try state.withLock { state in
            guard state.stage == .open else { throw SessionError.ended }
            var endsAt: Int64?
            if let token, token != state.record.token {
                let retired = state.record.details.retiredTokens.first { $0.digest == token }
                guard let retired else { throw SessionError.unauthenticated }
                endsAt = retired.graceEndsAt
            }
            let added = try environment.watches.add(to: state, after: missed?.revision ?? point) {
                watch, place, current in
                SessionWatcher(
                    of: self, watch, at: place, after: point ?? current, missed, token: token, endsAt: endsAt,
                    address: address)
            }
            // Under the lock, as in `breakWatch()`, so that the store is told in the same order.
            if !state.isWatched { follow(state.record.id) }
            state.isWatched = true
            return added
        }
        for other in displaced { other.displace() }
        return watcher
    }

    /// How many clients watch it.
    package var watcherCount: Int {
        let (id, isWatched) = state.withLock { ($0.record.id, $0.isWatched) }
        return isWatched ? environment.watches[id]?.watcherCount ?? 0 : 0
    }

    /// Which documents of the process have changed is not known of the time in which a client was away, so it is told
    /// of all.
    ///
    /// - Parameter point: `nil` for a client that begins.
    private func missedOfProcess(since point: UInt64?) -> WatchedCommit? {
        guard let point else { return nil }
        let changes = environment.processDocuments.now.all(environment.definitions.catalog)
        return changes.isEmpty ? nil : WatchedCommit(revision: point, changes: changes, isLater: true)
    }

    /// How the session differs from what it was at a revision, as far as its state tells: a service has the revision of
    /// its last write. What is gone has none, so every service without a document counts as removed, and a journey that
    /// was abandoned, or a task that is over, is not among the changes.
    ///
    /// - Returns: nil where the services may have come with revisions from before that one.
    private func changes(since point: UInt64) throws(SessionError) -> WatchedCommit? {
        var pending = try pendingState()
        let (record, floor) = (pending.base, pending.base.revisionFloor)
        guard point < record.revision, floor == 0 || point > floor else { return nil }
        let former = SessionRecord(
            id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt,
            revision: point, services: record.services.filter { $0.revision <= point }, details: record.details)
        pending = PendingState(
            base: former, unwritten: [], definitions: pending.definitions, now: pending.now,
            lastUsedAt: pending.lastUsedAt)
        pending.take(record.services)
        let removed = pending.catalog.services.filter {
            $0.scope == .session && record.document(of: $0.index) == nil
        }
        let changes =
            environment.processDocuments.now.all(pending.catalog) + pending.sessionChanges(environment)
            + removed.map { .serviceRemoved(name: $0.name) }
        return WatchedCommit(revision: record.revision, changes: changes, journeyTags: journeyTags(of: changes))
    }

    /// The time by which sessions expire.
    package var now: @Sendable () -> Int64 { { [clock = environment.clock] in clock.now() } }

    /// Tells watchers what a commit has changed. Call it in the order of revisions.
    func tellWatchers(_ changes: [SessionChange], _ record: SessionRecord) {
        if record.id == SessionID.process { environment.tellProcessChanges(changes) }
        guard let watch = environment.watches[record.id] else { return }
        watch.take(
            WatchedCommit(revision: record.revision, changes: changes, journeyTags: journeyTags(of: changes)),
            token: record.token)
    }

    /// Tells watchers that the session has ended.
    func tellWatchers(of end: SessionEnd) {
        let (record, unwritten, isWatched) = state.withLock { state in
            defer { state.isWatched = false }
            return (state.record, state.unwritten, state.isWatched)
        }
        guard isWatched else { return }
        let newestFirst = (record.services + unwritten).sorted { $0.birth > $1.birth }
        let catalog = environment.definitions.catalog
        let names = newestFirst.map { catalog[$0.service] }.filter(\.isDeclared).map(\.name)
        let changes = names.map { SessionChange.serviceRemoved(name: $0) } + [.ended(end)]
        environment.store.unfollow(record.id)
        environment.watches.forget(record.id)?
            .take(
                WatchedCommit(revision: record.revision, changes: changes, isLater: true), token: record.token,
                end: .sessionEnded)
    }

    func tellWatchersOfUse(at now: Int64, idleExpiresAt: Int64) {
        environment.watches[id]?
            .noteUse(at: now, idleEnd: idleExpiresAt, interval: environment.settings.touchInterval)
    }

    /// Watchers must begin anew: there are changes that they cannot be told of.
    func breakWatch() {
        let watch = state.withLock { state in
            unfollow(&state)
            return environment.watches.forget(state.record.id)
        }
        watch?.close(.gap)
    }

    /// Drops an idle history.
    func dropWatch(_ watch: SessionWatch, now: Int64) {
        state.withLock { state in
            guard environment.watches.drop(watch, now: now) else { return }
            unfollow(&state)
        }
    }

    /// The session of the process stays watched: everybody is told of its commits.
    private func unfollow(_ state: inout State) {
        guard state.isWatched, state.record.id != SessionID.process else { return }
        environment.store.unfollow(state.record.id)
        state.isWatched = false
    }

    private func journeyTags(of changes: [SessionChange]) -> [String: ServiceETag] {
        var tags: [String: ServiceETag] = [:]
        for case .some(let id) in changes.map(\.shownJourney) where tags[id] == nil {
            tags[id] = try? journeyTag(id)
        }
        return tags
    }
}
