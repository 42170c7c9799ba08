import Synchronization

/// Keeps sessions in memory, for tests and trials. They end with the process.
///
/// It shares the records of the resident sessions, so a session costs one dictionary entry here.
package final class MemoryStore: PromptStore {
    /// One shard for each first byte of the second half of an id, which is random. So the order of this store is by the
    /// second half, then by the first.
    private let shards = Shards(count: 256) { [SessionID: StoredSession]() }
    private let users = Mutex<[ExactText: Set<SessionID>]>([:])
    /// Taken inside a shard's lock where a session changes with its tasks.
    private let tasks = Mutex(TaskIndex())
    /// Taken inside a shard's lock where a session's times change.
    private let due = Mutex(DueIndex())
    /// Taken inside a shard's lock.
    private let placed = Mutex(PlaceIndex())
    /// Taken inside a shard's lock where a session changes with its replays.
    let shelf = Mutex(ReplayShelf())
    /// The highest revision of all sessions that have ended here.
    private let endedRevision = Atomic<UInt64>(0)

    private let bytes = Atomic<Int>(0)
    private let mostBytes: Int

    package var outlivesProcess: Bool { false }

    package var sessionCount: Int { (0..<shards.count).reduce(0) { $0 + shards.withLock($1) { $0.count } } }

    package var documentBytes: DocumentBytes? {
        DocumentBytes(stored: bytes.load(ordering: .relaxed), allowed: mostBytes)
    }

    /// - Parameter mostBytes: the limit of ``documentBytes``.
    package init(mostBytes: Int = .max) {
        self.mostBytes = mostBytes
    }

    /// Counts bytes that are about to be stored, or removed.
    ///
    /// - Returns: why they cannot be stored. Then they are not counted.
    private func count(_ growth: Int) -> StoreError? {
        guard growth != 0 else { return nil }
        let total = bytes.wrappingAdd(growth, ordering: .relaxed).newValue
        guard growth > 0, total > mostBytes else { return nil }
        bytes.wrappingSubtract(growth, ordering: .relaxed)
        return .full(of: DocumentBytes(stored: total - growth, allowed: mostBytes))
    }

    package func create(
        _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        done(add(session, tasks: notice.map { [$0] } ?? []))
    }

    func add(
        _ session: StoredSession, isFromElsewhere: Bool = false, tasks: [StoredTask] = []
    ) -> StoreError? {
        let id = session.record.id
        let size = session.record.writtenBytes
        if let failure = count(size) { return failure }
        let isNew = shards.withLock(place(of: id)) { sessions in
            // Under the lock: a session of this id has ended before or is still here.
            let session =
                isFromElsewhere ? session.raisingRevisionFloor(to: endedRevision.load(ordering: .relaxed)) : session
            if let former = sessions.updateValue(session, forKey: id) {
                // Looking first would double the work, and no id is drawn twice.
                sessions[id] = former
                return false
            }
            index(id, from: nil, to: session.record.userID)
            index(id, from: .none, to: session.record.times)
            if !tasks.isEmpty { self.tasks.withLock { $0.apply(tasks.map { .begun($0) }) } }
            return true
        }
        if !isNew { _ = count(-size) }
        return isNew ? nil : .conflict
    }

    package func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
        shards.withLock(place(of: id)) { $0[id] }
    }

    package func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        done(self.commit(commit))
    }

    package func commit(_ commit: SessionCommit) -> StoreError? {
        let id = commit.record.id
        return shards.withLock(place(of: id)) { sessions in
            guard let place = sessions.index(forKey: id) else { return .gone }
            let current = sessions.values[place]
            guard current.record.revision == commit.replacedRevision else { return .conflict }
            if let failure = count(commit.growth) { return failure }
            sessions.values[place] = StoredSession(
                record: commit.record, lastUsedAt: max(current.lastUsedAt, commit.usedAt))
            index(id, from: current.record.userID, to: commit.record.userID)
            if commit.changesTimes { index(id, from: current.record.times, to: commit.record.times) }
            if !commit.tasks.isEmpty { tasks.withLock { $0.apply(commit.tasks) } }
            if let replays = commit.replays { shelf.withLock { $0.apply(replays, of: id) } }
            return nil
        }
    }

    package func receive(_ arrival: SessionArrival) async throws(StoreError) {
        guard let revision = arrival.replacedRevision else {
            if let failure = add(arrival.session, isFromElsewhere: true, tasks: arrival.tasks) { throw failure }
            return
        }
        let id = arrival.session.record.id
        let failure: StoreError? = shards.withLock(place(of: id)) { sessions in
            guard let former = sessions[id]?.record else { return .gone }
            guard former.revision == revision else { return .conflict }
            if let failure = count(arrival.session.record.writtenBytes - former.writtenBytes) { return failure }
            sessions[id] = arrival.session
            index(id, from: former.userID, to: arrival.session.record.userID)
            index(id, from: former.times, to: arrival.session.record.times)
            shelf.withLock { $0.removeAll(of: id) }
            tasks.withLock { tasks in
                tasks.removeAll(of: id)
                tasks.apply(arrival.tasks.map { .begun($0) })
            }
            return nil
        }
        if let failure { throw failure }
    }

    package func touch(_ uses: [SessionUse]) async throws(StoreError) {
        for use in uses {
            shards.withLock(place(of: use.id)) { sessions in
                guard let place = sessions.index(forKey: use.id) else { return }
                let current = sessions.values[place]
                guard current.lastUsedAt < use.usedAt else { return }
                sessions.values[place] = StoredSession(record: current.record, lastUsedAt: use.usedAt)
            }
        }
    }

    package func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool {
        try shards.withLock(place(of: id)) { sessions throws(StoreError) in
            guard let ended = sessions[id] else { return false }
            guard standing == nil || standing == ended.standing else { throw .conflict }
            sessions[id] = nil
            _ = count(-ended.record.writtenBytes)
            endedRevision.max(ended.record.highestRevision, ordering: .relaxed)
            index(id, from: ended.record.userID, to: nil)
            index(id, from: ended.record.times, to: .none)
            if !ended.record.services.isEmpty { placed.withLock { $0.set(id, to: []) } }
            tasks.withLock { tasks in
                if !tasks.isEmpty { tasks.removeAll(of: id) }
                if let notice { tasks.put(notice) }
            }
            if ended.record.replayBytes > 0 { shelf.withLock { $0.removeAll(of: id) } }
            return true
        }
    }

    /// Looks at all sessions. The server does not call it: all sessions of this store are in memory, where they expire.
    package func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        let stored = (0..<shards.count).flatMap { shards.withLock($0) { Array($0.values) } }
        let overdue = stored.filter { query.isOver($0) && !query.isInUse($0.record.id) }
            .prefix(query.limit)
        var count = 0
        for id in overdue.map(\.record.id) {
            if let tell = query.onOverdue {
                tell(id)
            } else if try await end(id) {
                count += 1
            }
        }
        let candidates = stored.compactMap { session -> Shedding.Candidate? in
            let record = session.record
            guard !query.isOver(session), !query.isInUse(record.id) else { return nil }
            return query.candidate(
                record.id, revision: Int64(clamping: record.revision), lastUsedAt: session.lastUsedAt,
                expiresAt: record.expiresAt, keptUntil: record.times.keptUntil, hasUser: record.userID != nil)
        }
        let kept = stored.count { session in
            let record = session.record
            let deadline = query.deadline(
                session.lastUsedAt, idleTimeout: record.idleTimeout, expiresAt: record.expiresAt)
            return query.isKept(after: deadline, until: record.times.keptUntil)
        }
        return ExpiredSessions(count: count, looked: overdue.count, candidates: candidates, kept: kept)
    }

    package func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession] {
        due.withLock { $0.due(now: now, limit: limit) }
    }

    package func putOff(_ due: DueSession, to time: Int64) async throws(StoreError) {
        _ = self.due.withLock { $0.putOff(due, to: time) }
    }

    package func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims {
        tasks.withLock { $0.claim(claim) }
    }

    package func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask? {
        tasks.withLock { tasks in
            guard var task = tasks[id] else { return nil }
            task.apply(update)
            if case .remove = update { tasks.remove(id) } else { tasks.put(task) }
            return task
        }
    }

    package func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask] {
        tasks.withLock { $0.overdue(now: now, limit: limit) }
    }

    package func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask] {
        tasks.withLock { $0.list(query) }
    }

    package func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        // Ids first, then sessions: no lock of a shard is taken under the lock of the users.
        let ids = users.withLock { $0[ExactText(userID)] ?? [] }
        var found: [StoredSession] = []
        for id in ids.sorted() {
            guard let session = shards.withLock(place(of: id), { $0[id] }),
                session.record.userID?.isExactly(userID) == true
            else {
                continue
            }
            found.append(session)
        }
        return found
    }

    package func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        var found: [StoredSession] = []
        // One more than requested shows whether there is another page.
        for place in (id.map(place) ?? 0)..<shards.count where found.count <= limit {
            let later = shards.withLock(place) { sessions in
                guard let id else { return Array(sessions.values) }
                return sessions.values.filter { Self.isOrdered(id, $0.record.id) }
            }
            found += later.sorted { Self.isOrdered($0.record.id, $1.record.id) }.prefix(limit + 1 - found.count)
        }
        let page = found.prefix(limit)
        return SessionPage(sessions: Array(page), next: found.count > limit ? page.last?.record.id : nil)
    }

    private func place(of id: SessionID) -> Int {
        Int(id.low >> 56)
    }

    private static func isOrdered(_ left: SessionID, _ right: SessionID) -> Bool {
        (left.low, left.high) < (right.low, right.high)
    }

    /// Called under the lock of the session's shard, as is the next.
    private func index(_ id: SessionID, from former: SessionTimes, to times: SessionTimes) {
        // Most sessions have none, now or before.
        guard former.dueAt != .max || times.dueAt != .max else { return }
        due.withLock { $0.set(id, to: times.dueAt) }
    }

    /// Called under the lock of the session's shard, so that the index follows the records in their order.
    private func index(_ id: SessionID, from former: String?, to userID: String?) {
        let former = former.map(ExactText.init)
        let userID = userID.map(ExactText.init)
        guard former != userID else { return }
        users.withLock { users in
            if let former {
                users[former]?.remove(id)
                if users[former]?.isEmpty == true { users[former] = nil }
            }
            if let userID { users[userID, default: []].insert(id) }
        }
    }
}

extension MemoryStore: JourneyIndex {
    package var journeyIndex: any JourneyIndex { self }

    package func place(_ sessions: [PlacedSession]) async throws(StoreError) -> [SessionID] {
        sessions.filter { session in
            shards.withLock(place(of: session.id)) { stored in
                let record = stored[session.id]?.record
                guard record == nil || record?.revision == session.revision else { return true }
                placed.withLock { $0.set(session.id, to: record == nil ? [] : session.places) }
                return false
            }
        }.map(\.id)
    }

    package func journeyCounts() async throws(StoreError) -> [JourneyPlace: Int] { placed.withLock(\.counts) }

    package func sessions(
        at places: [JourneyPlace], from id: SessionID?, limit: Int
    ) async throws(StoreError) -> [SessionID] {
        placed.withLock { $0.sessions(at: places, from: id, limit: limit) }
    }
}

extension MemoryStore: ReplayStore {
    package var replays: any ReplayStore { self }

    package func response(_ id: ShortDigest, of session: SessionID) async throws(StoreError) -> [UInt8]? {
        shelf.withLock { $0.response(id, of: session) }
    }

    package func create(
        _ session: StoredSession, once: OnceCreated,
        then done: @escaping @Sendable (Result<LoneReplay?, StoreError>) -> Void
    ) {
        let id = session.record.id
        if let other = shelf.withLock({ $0.keep(once.claim(of: id), now: once.now, atMost: once.mostLone) }) {
            return done(.success(other))
        }
        if let failure = add(session, tasks: once.notice.map { [$0] } ?? []) {
            shelf.withLock { $0.take(once.replay.entry.id) }
            return done(.failure(failure))
        }
        shelf.withLock { $0.apply(ReplayChange(added: once.replay), of: id) }
        done(.success(nil))
    }

    package func loneReplay(_ id: ShortDigest, now: Int64) async throws(StoreError) -> LoneReplay? {
        shelf.withLock { $0.loneReplay(id, now: now) }
    }

    package func keep(
        _ replay: LoneReplay, now: Int64, atMost limit: Int
    ) async throws(StoreError) -> LoneReplay? {
        shelf.withLock { $0.keep(replay, now: now, atMost: limit) }
    }
}
