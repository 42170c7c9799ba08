/// The response to a request with an idempotency key, as it is kept with what the request has changed. The layer above
/// has sealed it: a store cannot read it.
package struct Replay: Sendable, Equatable {
    package let entry: ReplayEntry
    /// Empty when the response was too long: the request was executed, and is not executed again.
    package let response: [UInt8]

    package init(id: ShortDigest, fingerprint: ShortDigest, endsAt: Int64, response: [UInt8]) {
        entry = ReplayEntry(
            id: id, fingerprint: fingerprint, endsAt: endsAt, size: response.count + ReplayEntry.overhead)
        self.response = response
    }
}

/// What a session in memory knows of a ``Replay``: enough to tell a request that was executed from one that was not.
package struct ReplayEntry: Sendable, Equatable {
    /// Of the caller and the key.
    package let id: ShortDigest
    /// Of the request. Another request with the same key is a mistake of the client.
    package let fingerprint: ShortDigest
    /// In steady time. From then on the key is free.
    package let endsAt: Int64
    /// The bytes that it counts for.
    package let size: Int

    package init(id: ShortDigest, fingerprint: ShortDigest, endsAt: Int64, size: Int) {
        self.id = id
        self.fingerprint = fingerprint
        self.endsAt = endsAt
        self.size = size
    }

    /// About what a store needs for one besides the response.
    package static let overhead = 64
}

/// What a commit does to the replays of its session.
package struct ReplayChange: Sendable {
    package let added: Replay
    /// Those whose time is over, and those that make room. An entry of the added one's id may be among them.
    package let removed: [ReplayEntry]

    package init(added: Replay, removed: [ReplayEntry] = []) {
        self.added = added
        self.removed = removed
    }
}

/// How many replays a session keeps. Beyond that the oldest go, so a key is forgotten early only by a caller that
/// sends hundreds of keyed requests a day, and forgets its own.
package enum ReplayLimits {
    /// A client that repeats a request does so within minutes; a person makes some dozens of steps a day.
    package static let entries = 256
    /// With the 256 entries of usual journeys, and a quarter of the size of a session.
    package static let bytes = 256 << 10
}

extension [ReplayEntry] {
    /// The entries after a commit, in the order in which they were added.
    func adding(_ replay: Replay, now: Int64) -> (entries: [ReplayEntry], change: ReplayChange) {
        let new = replay.entry
        func isOver(_ entry: ReplayEntry) -> Bool { entry.endsAt <= now || entry.id == new.id }
        // Nearly always empty: then nothing is copied twice.
        var removed = filter(isOver)
        let lasting = removed.isEmpty ? self : filter { !isOver($0) }
        var bytes = lasting.reduce(new.size) { $0 + $1.size }
        var surplus = 0
        while surplus < lasting.count, lasting.count - surplus >= ReplayLimits.entries || bytes > ReplayLimits.bytes {
            bytes -= lasting[surplus].size
            surplus += 1
        }
        removed += lasting[..<surplus]
        var entries: [ReplayEntry] = []
        entries.reserveCapacity(lasting.count - surplus + 1)
        entries += lasting[surplus...]
        entries.append(new)
        return (entries, ReplayChange(added: replay, removed: removed))
    }

    /// The entry of an id whose time is not over.
    func entry(of id: ShortDigest, now: Int64) -> ReplayEntry? { first { $0.id == id && $0.endsAt > now } }
}
