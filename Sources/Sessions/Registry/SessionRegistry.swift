import Synchronization

/// The sessions in memory, by id: all that there are, or the most recently used of those that a store has
/// (``makeRoom(near:settings:)``).
final class SessionRegistry: Sendable {
    let shards: Shards<RegistryShard>
    /// More than so many do not stay in memory for long.
    let residentLimit: Int
    /// Sessions in all shards.
    let residentCount = Atomic<Int>(0)
    /// Sessions that there are, in memory or not, and those that are just being made.
    private let totalCount: Atomic<Int>

    /// - Parameters:
    ///   - residentLimit: how many may stay in memory.
    ///   - stored: how many there are in the store, of which none is in memory.
    init(residentLimit: Int = .max, stored: Int = 0) {
        self.residentLimit = residentLimit
        totalCount = Atomic(stored)
        shards = Shards(count: Self.shardCount(for: residentLimit)) { RegistryShard() }
    }

    /// Enough that threads seldom meet, and that the entries of one are gone through quickly. Fewer where few sessions
    /// may stay: the one that leaves is the least recently used of its shard, and of a handful that says little.
    private static func shardCount(for residentLimit: Int) -> Int {
        var count = 1
        while count < 256, count * 2 * sessionsPerShard <= residentLimit { count *= 2 }
        return count
    }

    private static let sessionsPerShard = 64

    /// How many are in memory.
    var sessionCount: Int { residentCount.load(ordering: .relaxed) }

    /// How many there are, in memory or not.
    var total: Int { totalCount.load(ordering: .relaxed) }

    /// Who has got a session from here keeps it in memory for as long as he holds it.
    subscript(id: SessionID) -> Session? { shards.withLock(place(of: id)) { $0.session(id) } }

    /// Takes one of `limit` places; false when there is none.
    func reserve(limit: Int) -> Bool {
        guard totalCount.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        giveBack(1)
        return false
    }

    /// So many sessions are no more.
    func giveBack(_ places: Int) {
        totalCount.wrappingSubtract(places, ordering: .relaxed)
    }

    /// Adds a new session, for which a place is reserved. It is not in the store yet, so that nobody can be loading it.
    func insert(_ session: Session, id: SessionID, deadline: Int64) {
        shards.withLock(place(of: id)) { content in
            content.sessions[id] = session
            content.expiry.insert(id, deadline: deadline)
        }
        residentCount.wrappingAdd(1, ordering: .relaxed)
    }

    /// Takes a session out that is no more, and makes a load of it that is under way fail. Its place is still to be given
    /// back.
    @discardableResult
    func remove(_ id: SessionID) -> Session? {
        let session = shards.withLock(place(of: id)) { content in
            content.loads[id]?.isCancelled = true
            let session = content.sessions.removeValue(forKey: id)
            content.compactIfStale()
            return session
        }
        if session != nil { residentCount.wrappingSubtract(1, ordering: .relaxed) }
        return session
    }

    /// Takes a session out that has expired and stays in the store for a while. Its place stays taken.
    ///
    /// - Returns: whether it was there.
    func retire(_ id: SessionID) -> Bool {
        let isThere = shards.withLock(place(of: id)) { content in
            guard let session = content.sessions.removeValue(forKey: id) else { return false }
            if let time = session.state.withLock({ $0.takeUnsavedUse() }) { content.noteUse(id, at: time) }
            content.compactIfStale()
            return true
        }
        if isThere { residentCount.wrappingSubtract(1, ordering: .relaxed) }
        return isThere
    }

    /// Takes out of the index at most `limit` sessions whose time is over, or that are held. Those that were used in the meantime go
    /// back into it. The sessions stay here until they are removed.
    func takeOverdue(now: Int64, limit: Int, settings: SessionSettings) -> [Session] {
        var overdue: [Session] = []
        for place in 0..<shards.count {
            guard overdue.count < limit else { break }
            shards.withLock(place) { content in
                while overdue.count < limit, let id = content.expiry.popDue(now: now) {
                    guard let session = content.sessions[id] else { continue }
                    // A shard's lock is taken before a session's, never the other way round.
                    let (deadline, isOpen) = session.state.withLock { ($0.deadline(settings), $0.stage == .open) }
                    if deadline > now, isOpen {
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
        shards.withLock(place(of: id)) { content in
            guard content.sessions[id] != nil else { return }
            content.expiry.insert(id, deadline: deadline)
        }
    }

    /// How many entries the index has, stale ones among them.
    var indexedCount: Int {
        (0..<shards.count).reduce(0) { $0 + shards.withLock($1) { $0.expiry.count } }
    }

    func place(of id: SessionID) -> Int { Int(truncatingIfNeeded: id.low) & (shards.count - 1) }
}
