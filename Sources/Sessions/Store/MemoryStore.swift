import Synchronization

/// Keeps sessions in memory, for tests and trials: everything is gone when the process ends.
///
/// It holds the very records that the resident sessions hold, so that a session costs one dictionary entry here.
package final class MemoryStore: PromptSessionStore {
    /// One for each first byte of an id, so that their order is the order of ids.
    private let shards = Shards(count: 256) { [SessionID: StoredSession]() }
    private let users = Mutex<[ExactText: Set<SessionID>]>([:])

    package var outlivesProcess: Bool { false }

    package var sessionCount: Int { (0..<shards.count).reduce(0) { $0 + shards.withLock($1) { $0.count } } }

    package init() {}

    package func createAtOnce(_ session: StoredSession) throws(StoreError) {
        let id = session.record.id
        let isNew = shards.withLock(place(of: id)) { sessions in
            if let former = sessions.updateValue(session, forKey: id) {
                // Looking first would take as long as the rest: nobody draws an id twice.
                sessions[id] = former
                return false
            }
            index(id, from: nil, to: session.record.userID)
            return true
        }
        guard isNew else { throw .conflict }
    }

    package func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
        shards.withLock(place(of: id)) { $0[id] }
    }

    package func commitAtOnce(_ commit: SessionCommit) throws(StoreError) {
        let id = commit.record.id
        let failure: StoreError? = shards.withLock(place(of: id)) { sessions in
            guard let place = sessions.index(forKey: id) else { return .gone }
            let current = sessions.values[place]
            guard current.record.revision == commit.replacedRevision else { return .conflict }
            sessions.values[place] = StoredSession(record: commit.record, lastUsedAt: current.lastUsedAt)
            index(id, from: current.record.userID, to: commit.record.userID)
            return nil
        }
        if let failure { throw failure }
    }

    package func receive(_ arrival: SessionArrival) async throws(StoreError) {
        guard let revision = arrival.replacedRevision else { return try createAtOnce(arrival.session) }
        let id = arrival.session.record.id
        let failure: StoreError? = shards.withLock(place(of: id)) { sessions in
            guard let former = sessions[id]?.record else { return .gone }
            guard former.revision == revision else { return .conflict }
            sessions[id] = arrival.session
            index(id, from: former.userID, to: arrival.session.record.userID)
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

    package func end(_ id: SessionID) async throws(StoreError) -> Bool {
        shards.withLock(place(of: id)) { sessions in
            guard let ended = sessions.removeValue(forKey: id) else { return false }
            index(id, from: ended.record.userID, to: nil)
            return true
        }
    }

    /// Goes through all of them. Nobody asks: all sessions of this store are in memory, where their ends are known.
    package func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        let stored = (0..<shards.count).flatMap { shards.withLock($0) { Array($0.values) } }
        let overdue = stored.map { (session: $0, deadline: query.deadline(of: $0)) }
            .filter { $0.deadline <= query.now && !query.isInUse($0.session.record.id) }
            .sorted { $0.deadline < $1.deadline }
            .prefix(query.limit)
        var ended: [StoredSession] = []
        for (session, _) in overdue where try await end(session.record.id) { ended.append(session) }
        return ExpiredSessions(sessions: ended, count: ended.count, looked: overdue.count)
    }

    package func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        // The ids first and the sessions then: no lock of a shard is taken while that of the users is held.
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

    package func page(after id: SessionID?, limit: Int) async throws(StoreError) -> [StoredSession] {
        var page: [StoredSession] = []
        for place in (id.map(place) ?? 0)..<shards.count where page.count < limit {
            let later = shards.withLock(place) { sessions in
                guard let id else { return Array(sessions.values) }
                return sessions.values.filter { $0.record.id > id }
            }
            page += later.sorted { $0.record.id < $1.record.id }.prefix(limit - page.count)
        }
        return page
    }

    private func place(of id: SessionID) -> Int {
        Int(id.high >> 56)
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
