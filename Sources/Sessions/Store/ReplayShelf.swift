/// The responses that a ``MemoryStore`` keeps.
struct ReplayShelf: Sendable {
    private var ofSessions: [SessionID: [ShortDigest: [UInt8]]] = [:]
    private var lone: [ShortDigest: LoneReplay] = [:]
    /// The lone ones, the oldest first. They end in this order. A key that was free again has two places.
    private var order: [(id: ShortDigest, endsAt: Int64, keys: Int)] = []
    /// Where `order` begins; the part before it is removed now and then.
    private var oldest = 0
    /// How many keys `order` counts for.
    private var keys = 0

    func response(_ id: ShortDigest, of session: SessionID) -> [UInt8]? { ofSessions[session]?[id] }

    mutating func apply(_ change: ReplayChange, of session: SessionID) {
        for entry in change.removed { ofSessions[session]?[entry.id] = nil }
        ofSessions[session, default: [:]][change.added.entry.id] = change.added.response
    }

    mutating func removeAll(of session: SessionID) { ofSessions[session] = nil }

    func loneReplay(_ id: ShortDigest, now: Int64) -> LoneReplay? { lone[id].flatMap { $0.endsAt > now ? $0 : nil } }

    /// Returns the one that is there already.
    mutating func keep(_ replay: LoneReplay, now: Int64, atMost limit: Int) -> LoneReplay? {
        removeEnded(now: now)
        if let other = loneReplay(replay.id, now: now) { return other }
        lone[replay.id] = replay
        order.append((replay.id, replay.endsAt, replay.content.keys))
        keys += replay.content.keys
        while keys > limit, order.count - oldest > 1 { removeOldest() }
        return nil
    }

    /// The session of a claim was not created.
    mutating func take(_ id: ShortDigest) {
        lone[id] = nil
        // It is among the newest. Left in its place, it would take a later one of its id along.
        if let place = order.lastIndex(where: { $0.id == id }), place >= oldest {
            keys -= order.remove(at: place).keys
        }
    }

    /// Each call adds one, so to remove a few keeps up.
    private mutating func removeEnded(now: Int64) {
        for _ in 0..<4 {
            guard oldest < order.count, order[oldest].endsAt <= now else { return }
            removeOldest()
        }
    }

    private mutating func removeOldest() {
        let first = order[oldest]
        if lone[first.id]?.endsAt == first.endsAt { lone[first.id] = nil }
        keys -= first.keys
        oldest += 1
        guard oldest >= 64, oldest * 2 >= order.count else { return }
        order.removeFirst(oldest)
        oldest = 0
    }
}
