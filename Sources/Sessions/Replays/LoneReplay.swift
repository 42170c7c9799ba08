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

    package init(replay: Replay, now: Int64, mostLone: Int) {
        self.replay = replay
        self.now = now
        self.mostLone = mostLone
    }

    /// What tells a copy of the request which session was made.
    package func claim(of session: SessionID) -> LoneReplay {
        LoneReplay(
            id: replay.entry.id, fingerprint: replay.entry.fingerprint, endsAt: replay.entry.endsAt,
            content: .session(session))
    }
}
