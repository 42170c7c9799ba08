import Synchronization

/// The sessions in memory, by id: all of them, or the most recently used ones of the store
/// (``makeRoom(near:_:)``).
final class SessionRegistry: Sendable {
    let shards: Shards<RegistryShard>
    /// Sessions in memory or in the store, including those that are being created.
    private let totalCount: Atomic<Int>
    let shedList = Mutex(SheddingList())

    /// - Parameters:
    ///   - mostBytes: when the sessions take more, some are evicted.
    ///   - stored: how many are in the store. None of them is in memory.
    init(mostBytes: Int = .max, stored: Int = 0) {
        totalCount = Atomic(stored)
        shards = Shards(count: Self.shardCount(for: mostBytes / Session.footprint)) { RegistryShard() }
    }

    /// Enough that threads rarely meet and that a shard's entries are quickly searched. Fewer when few sessions may
    /// stay: the evicted one is the least recently used of its shard, which means little in a shard of a few.
    private static func shardCount(for residents: Int) -> Int {
        var count = 1
        while count < 256, count * 2 * sessionsPerShard <= residents { count *= 2 }
        return count
    }

    private static let sessionsPerShard = 64

    /// How many sessions are in memory.
    var sessionCount: Int { (0..<shards.count).reduce(0) { $0 + shards.withLock($1) { $0.sessions.count } } }

    /// How many sessions exist, in memory or not.
    var total: Int { totalCount.load(ordering: .relaxed) }

    /// A session stays in memory while any code refers to it.
    subscript(id: SessionID) -> Session? { shards.withLock(place(of: id)) { $0.session(id) } }

    /// Takes one of `limit` places; false when none is left.
    func reserve(limit: Int) -> Bool {
        guard totalCount.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        giveBack(1)
        return false
    }

    /// Returns the places of ended sessions.
    func giveBack(_ places: Int) {
        totalCount.wrappingSubtract(places, ordering: .relaxed)
    }

    /// Sets how many sessions exist, for a store that other processes change as well.
    func setTotal(_ total: Int) { totalCount.store(total, ordering: .relaxed) }

    /// Adds a new session with a reserved place. It is not in the store yet, so it is not being loaded.
    func insert(_ session: Session, id: SessionID, deadline: Int64) {
        shards.withLock(place(of: id)) { content in
            content.sessions[id] = session
            content.expiry.insert(id, deadline: deadline)
        }
    }

    /// Removes an ended session, and cancels a load of it that is in progress. Its place must still be returned.
    @discardableResult
    func remove(_ id: SessionID) -> Session? {
        shards.withLock(place(of: id)) { content in
            content.loads[id]?.isCancelled = true
            let session = content.sessions.removeValue(forKey: id)
            content.compactIfStale()
            return session
        }
    }

    /// Removes a session that another process has ended, unless another one has taken its place.
    func remove(_ id: SessionID, _ session: Session) {
        shards.withLock(place(of: id)) { content in
            if content.sessions[id] === session { content.sessions[id] = nil }
        }
    }

    /// Removes a session that has expired and stays in the store for a while. Its place stays taken.
    ///
    /// - Returns: whether it was there.
    func retire(_ id: SessionID) -> Bool {
        shards.withLock(place(of: id)) { content in
            guard let session = content.sessions.removeValue(forKey: id) else { return false }
            if let time = session.state.withLock({ $0.takeUnsavedUse() }) { content.noteUse(id, at: time) }
            content.compactIfStale()
            return true
        }
    }

    /// Takes at most `limit` sessions out of the index that have expired or are held. Sessions that were used in the
    /// meantime go back into it. The sessions stay in the registry until they are removed.
    func takeOverdue(now: Int64, limit: Int, settings: SessionSettings) -> [Session] {
        var overdue: [Session] = []
        for place in 0..<shards.count {
            guard overdue.count < limit else { break }
            shards.withLock(place) { content in
                while overdue.count < limit, let id = content.expiry.popDue(now: now)?.id {
                    guard let session = content.sessions[id] else { continue }
                    // A shard's lock is taken before a session's, never the other way round.
                    let (deadline, isOpen) = session.state.withLock { ($0.deadline(settings), $0.stage == .open) }
                    if deadline > now, isOpen {
                        content.expiry.insert(id, deadline: settings.look(before: deadline, from: now))
                    } else {
                        overdue.append(session)
                    }
                }
            }
        }
        return overdue
    }

    /// Puts a session back into the index.
    func reconsider(_ id: SessionID, at deadline: Int64) {
        shards.withLock(place(of: id)) { content in
            guard content.sessions[id] != nil else { return }
            content.expiry.insert(id, deadline: deadline)
        }
    }

    func place(of id: SessionID) -> Int { Int(truncatingIfNeeded: id.low) & (shards.count - 1) }
}
