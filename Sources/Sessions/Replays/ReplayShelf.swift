/// The responses that a ``MemoryStore`` keeps.
struct ReplayShelf: Sendable {
    private var ofSessions: [SessionID: [ShortDigest: [UInt8]]] = [:]
    private var lone: [ShortDigest: LoneReplay] = [:]
    /// The ids of the lone ones, the oldest first, some of which have gone. They end in this order.
    private var order: [ShortDigest] = []
    /// Where `order` begins; the part before it is removed now and then.
    private var oldest = 0

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
        order.append(replay.id)
        while order.count - oldest > limit { removeOldest() }
        return nil
    }

    /// The session of a claim was not created.
    mutating func take(_ id: ShortDigest) {
        lone[id] = nil
        // It is among the newest. Left in its place, it would take a later one of its id along.
        if let place = order.lastIndex(of: id), place >= oldest { order.remove(at: place) }
    }

    /// Each call adds one, so to remove a few keeps up.
    private mutating func removeEnded(now: Int64) {
        for _ in 0..<4 {
            guard oldest < order.count, (lone[order[oldest]]?.endsAt ?? .min) <= now else { return }
            removeOldest()
        }
    }

    private mutating func removeOldest() {
        lone[order[oldest]] = nil
        oldest += 1
        guard oldest >= 64, oldest * 2 >= order.count else { return }
        order.removeFirst(oldest)
        oldest = 0
    }
}
