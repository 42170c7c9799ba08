import Synchronization

/// The sessions in memory, by id.
final class SessionRegistry: Sendable {
    private let shards: [RegistryShard]
    /// Counts sessions in all shards, and those that are just being made.
    private let count = Atomic<Int>(0)

    init() {
        shards = (0..<Self.shardCount).map { _ in RegistryShard() }
    }

    /// Enough that threads seldom meet, and that the entries of one are gone through quickly.
    private static let shardCount = 256

    var sessionCount: Int { count.load(ordering: .relaxed) }

    subscript(id: SessionID) -> Session? { shard(of: id).content.withLock { $0.sessions[id] } }

    /// Takes one of `limit` places; false when there is none.
    func reserve(limit: Int) -> Bool {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        count.wrappingSubtract(1, ordering: .relaxed)
        return false
    }

    /// Adds a new session, for which a place is reserved. It is not in the store yet, so that nobody can be loading it.
    func insert(_ session: Session, id: SessionID, deadline: Int64) {
        shard(of: id).content.withLock { content in
            content.sessions[id] = session
            content.expiry.insert(id, deadline: deadline)
        }
    }

    /// Takes a session out, which makes loads of it that are under way fail.
    @discardableResult
    func remove(_ id: SessionID) -> Session? {
        let session = shard(of: id).content.withLock { content in
            content.loads[id]?.isCancelled = true
            let session = content.sessions.removeValue(forKey: id)
            content.compactIfStale()
            return session
        }
        if session != nil { count.wrappingSubtract(1, ordering: .relaxed) }
        return session
    }

    /// Says that the session is being loaded from the store; ``finishLoad(_:_:deadline:)`` has to follow.
    func beginLoad(_ id: SessionID) {
        shard(of: id).content.withLock { $0.loads[id, default: Load()].waiting += 1 }
    }

    /// Adds what was loaded, unless the session was removed in the meantime.
    ///
    /// - Returns: the session that is there now; another one when somebody else has loaded it, too.
    func finishLoad(_ id: SessionID, _ session: Session?, deadline: Int64) -> Session? {
        let (found, isAdded) = shard(of: id).content.withLock { content -> (Session?, Bool) in
            let isCancelled = content.loads[id]?.isCancelled ?? true
            content.loads[id]?.waiting -= 1
            if content.loads[id]?.waiting == 0 { content.loads[id] = nil }
            guard !isCancelled else { return (nil, false) }
            if let other = content.sessions[id] { return (other, false) }
            guard let session else { return (nil, false) }
            content.sessions[id] = session
            content.expiry.insert(id, deadline: deadline)
            return (session, true)
        }
        if isAdded { count.wrappingAdd(1, ordering: .relaxed) }
        return found
    }

    /// Remembers a use for ``takeUses()``.
    func noteUse(_ id: SessionID, at time: Int64) {
        shard(of: id).content.withLock { $0.uses.append(SessionUse(id: id, usedAt: time)) }
    }

    /// The uses of which the store is to be told.
    func takeUses() -> [SessionUse] {
        shards.flatMap { shard in
            shard.content.withLock { content in
                defer { content.uses = [] }
                return content.uses
            }
        }
    }

    /// Takes out of the index at most `limit` sessions whose time is over. Those that were used in the meantime go
    /// back into it. The sessions stay here until they are removed.
    func takeOverdue(now: Int64, limit: Int, settings: SessionSettings) -> [Session] {
        var overdue: [Session] = []
        for shard in shards {
            guard overdue.count < limit else { break }
            shard.content.withLock { content in
                while overdue.count < limit, let id = content.expiry.popDue(now: now) {
                    guard let session = content.sessions[id] else { continue }
                    // A shard's lock is taken before a session's, never the other way round.
                    let (deadline, isEnded) = session.state.withLock { ($0.deadline(settings), $0.isEnded) }
                    if deadline > now, !isEnded {
                        content.expiry.insert(id, deadline: deadline)
                    } else {
                        overdue.append(session)
                    }
                }
            }
        }
        return overdue
    }

    /// Puts a session back into the index, to be looked at again.
    func reconsider(_ id: SessionID, at deadline: Int64) {
        shard(of: id).content.withLock { content in
            guard content.sessions[id] != nil else { return }
            content.expiry.insert(id, deadline: deadline)
        }
    }

    /// How many entries the index has, stale ones among them.
    var indexedCount: Int {
        shards.reduce(0) { $0 + $1.content.withLock { $0.expiry.count } }
    }

    private func shard(of id: SessionID) -> RegistryShard {
        shards[Int(truncatingIfNeeded: id.low) & (Self.shardCount - 1)]
    }
}

/// A part of the registry.
private final class RegistryShard: Sendable {
    /// Guards look-ups and changes; nothing waits under it.
    let content = Mutex(Content())

    struct Content {
        var sessions: [SessionID: Session] = [:]
        var expiry = ExpiryIndex()
        var uses: [SessionUse] = []
        var loads: [SessionID: Load] = [:]

        /// Ended sessions leave entries in the index: they go when they are the most.
        mutating func compactIfStale() {
            // So few are not worth it.
            let tolerated = 64
            guard expiry.count > 2 * sessions.count + tolerated else { return }
            expiry.compact { sessions[$0] != nil }
        }
    }
}

/// Loads of one session that are under way.
private struct Load {
    var waiting = 0
    /// The session was removed after they began: what they bring is out of date.
    var isCancelled = false
}
