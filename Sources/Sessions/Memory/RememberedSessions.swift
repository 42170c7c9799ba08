/// The sessions that have a ``JourneyMemory``: a bounded number of sessions keep a memory. When one comes
/// that finds no room, the one that came first loses its own.
///
/// There is no order of use to keep: a session that is still in use when it loses its memory makes itself a new one at
/// its next event, and comes in as the last.
final class RememberedSessions: Sendable {
    private struct Places: Sendable {
        var sessions: [Session] = []
        /// Where the oldest is, and behind it the others in the order in which they came, round the end.
        var next = 0
    }

    private let shards: Shards<Places>
    private let placesPerShard: Int

    /// - Parameters:
    ///   - shardCount: spread over so many locks by the session's id, so that workers seldom meet.
    ///   - placesPerShard: 8,192 in all: with ``JourneyMemory/maximumBytes`` each that is 64 MiB at most, and about 20
    ///     as a rule.
    init(shardCount: Int = 64, placesPerShard: Int = 128) {
        shards = Shards(count: shardCount) { Places() }
        self.placesPerShard = placesPerShard
    }

    /// Tells that a session has a memory now and had none before.
    func add(_ session: Session, _ id: SessionID) {
        let oldest = shards.withLock(place(of: id)) { places -> Session? in
            guard places.sessions.count >= placesPerShard else {
                // The newest is just before the oldest, as it is when all places are taken.
                places.sessions.insert(session, at: places.next == 0 ? places.sessions.endIndex : places.next)
                if places.next > 0 { places.next += 1 }
                return nil
            }
            let oldest = places.sessions[places.next]
            places.sessions[places.next] = session
            places.next = (places.next + 1) % placesPerShard
            return oldest
        }
        // Not under the lock: a session's own is never taken within another but that of the registry.
        if let oldest, oldest !== session { oldest.forgetJourneys() }
    }

    /// Tells that a session has no memory any more, because it has ended.
    func remove(_ session: Session, _ id: SessionID) {
        shards.withLock(place(of: id)) { places in
            guard let place = places.sessions.firstIndex(where: { $0 === session }) else { return }
            places.sessions.remove(at: place)
            if places.next > place { places.next -= 1 }
            if places.sessions.count == places.next { places.next = 0 }
        }
    }

    /// Lets go of all sessions, which keep what this belongs to.
    func removeAll() {
        for place in 0..<shards.count { shards.withLock(place) { $0 = Places() } }
    }

    /// How many there are.
    var count: Int { (0..<shards.count).reduce(0) { $0 + shards.withLock($1) { $0.sessions.count } } }

    private func place(of id: SessionID) -> Int { Int(truncatingIfNeeded: id.low % UInt64(shards.count)) }
}
