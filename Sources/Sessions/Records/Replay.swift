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

/// What is kept of a request with an idempotency key that names no session: there is no commit that it could be a part
/// of.
package struct LoneReplay: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// The request made a session, which keeps the response.
        case session(SessionID)
        /// Sealed.
        case response([UInt8])

        /// How many keys it counts for, so that the most keys are also the most KiB of responses.
        package var keys: Int {
            switch self {
            case .session: 1
            case .response(let response): 1 + response.count / 1_024
            }
        }
    }

    package let id: ShortDigest
    package let fingerprint: ShortDigest
    package let endsAt: Int64
    package let content: Content

    package init(id: ShortDigest, fingerprint: ShortDigest, endsAt: Int64, content: Content) {
        self.id = id
        self.fingerprint = fingerprint
        self.endsAt = endsAt
        self.content = content
    }
}

/// A request to make a session, once.
package struct OnceCreated: Sendable {
    /// What the session keeps.
    package let replay: Replay
    /// The time of the request.
    package let now: Int64
    /// The most keys that lone replays count for in a store; beyond that the oldest go.
    package let mostLone: Int
    /// Tells back ends of the session.
    package var notice: StoredTask?

    /// What tells a copy of the request which session was made.
    package func claim(of session: SessionID) -> LoneReplay {
        LoneReplay(
            id: replay.entry.id, fingerprint: replay.entry.fingerprint, endsAt: replay.entry.endsAt,
            content: .session(session))
    }
}

/// Has a unit of work executed once for all copies of a request, at whatever server and after whatever end.
///
/// The unit begins by looking for the request's id among what its session knows, and ends by adding its response to its
/// own commit. Of two units at two servers one loses against the other's commit, runs again, and finds the id.
package struct Once<Value: Sendable>: Sendable {
    package let id: ShortDigest
    /// Makes of the unit's result what is kept; `nil` to keep nothing. Called each time that the unit has run.
    package let replay: @Sendable (Value) -> Replay?

    package init(id: ShortDigest, replay: @escaping @Sendable (Value) -> Replay?) {
        self.id = id
        self.replay = replay
    }

    /// The same for a unit that may also report a refusal, of which nothing is kept here.
    func ofSuccess() -> Once<Result<Value, any Error>> {
        Once<Result<Value, any Error>>(id: id) { [replay] result in
            if case .success(let value) = result { replay(value) } else { nil }
        }
    }
}

/// Thrown in place of the execution of a request that was executed before.
package struct ExecutedBefore: Error {
    /// Where the response is.
    package enum Place: Sendable {
        case session(Session, ReplayEntry)
        /// The request made a session, which may have ended since. The fingerprint is the request's.
        case madeSession(SessionID, fingerprint: ShortDigest)
    }

    package let place: Place

    package init(_ place: Place) { self.place = place }
}
