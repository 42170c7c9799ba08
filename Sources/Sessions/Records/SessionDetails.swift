/// What most sessions do not have: labels, a user, earlier tokens and what became of them, cookie mode, a revision
/// floor, an idle timeout of their own.
package struct SessionDetails: Sendable {
    package var labels: SessionLabels
    package var userID: String?
    /// Replaced tokens, the newest last.
    package var retiredTokens: [RetiredToken]
    package var mode: SessionMode
    /// A store that may have lost commits sets this above every revision that it can have lost; for an imported session
    /// it is above every revision that the id may have had here. Later revisions and steps of journeys are greater, so
    /// that no entity tag is issued twice. 0 for nearly all sessions.
    package var revisionFloor: UInt64
    /// What a sign-in from a flow has left of the token before.
    package var exchange: TokenExchange?
    /// What a back end has chosen in place of ``SessionSettings/idleTimeout``, in milliseconds.
    package var idleTimeout: Int64?

    package init(
        labels: SessionLabels = .none, userID: String? = nil, retiredTokens: [RetiredToken] = [],
        mode: SessionMode = .bearer, revisionFloor: UInt64 = 0, exchange: TokenExchange? = nil,
        idleTimeout: Int64? = nil
    ) {
        self.labels = labels
        self.userID = userID
        self.retiredTokens = retiredTokens
        self.mode = mode
        self.revisionFloor = revisionFloor
        self.exchange = exchange
        self.idleTimeout = idleTimeout
    }

    package static var none: Self { .init() }

    /// The bytes of the labels.
    var writtenBytes: Int { labels.isEmpty ? 0 : labels.text.count }

    var isEmpty: Bool {
        labels.isEmpty && userID == nil && retiredTokens.isEmpty && mode == .bearer && revisionFloor == 0
            && exchange == nil && idleTimeout == nil
    }
}

/// Keeps the details outside the record, and what it knows of responses. A session without either costs one pointer.
final class SessionDetailsBox: Sendable {
    let details: SessionDetails
    /// In the order in which they were added.
    let replays: [ReplayEntry]
    /// The bytes that they count for.
    let replayBytes: Int

    private init(_ details: SessionDetails, _ replays: [ReplayEntry], _ replayBytes: Int) {
        self.details = details
        self.replays = replays
        self.replayBytes = replayBytes
    }

    /// `nil` when there is nothing to keep. Not a failable initialiser, which would allocate first.
    ///
    /// - Parameter replayBytes: what a store says; `nil` for the sum.
    static func holding(
        _ details: SessionDetails, _ replays: [ReplayEntry] = [], replayBytes: Int? = nil
    ) -> SessionDetailsBox? {
        let bytes = replayBytes ?? replays.reduce(0) { $0 + $1.size }
        return details.isEmpty && bytes == 0 ? nil : SessionDetailsBox(details, replays, bytes)
    }
}

/// How a client carries its token.
package enum SessionMode: String, Sendable {
    case bearer, cookie
}

/// A token that was replaced by a new one.
package struct RetiredToken: Sendable {
    package let digest: TokenDigest
    /// When it became the session's token. In steady time, like the others.
    package let givenAt: Int64
    package let retiredAt: Int64
    /// It works until then. Using it later is a sign of theft.
    package let graceEndsAt: Int64

    package init(digest: TokenDigest, givenAt: Int64, retiredAt: Int64, grace: Int64) {
        self.digest = digest
        self.givenAt = givenAt
        self.retiredAt = retiredAt
        graceEndsAt = retiredAt + grace
    }

    /// For how long it was the session's token.
    var age: Int64 { retiredAt - givenAt }

    /// How many are remembered. A client that rotates every minute recognises a stolen token for a quarter of an hour.
    /// An older one is unknown and refused like any unknown token.
    static let most = 16
}

extension SessionDetails {
    /// Forgets a token when there are too many: the oldest, unless another one was in use for less than half as long.
    ///
    /// Otherwise a thief could rotate a few times in a second until the owner's token is forgotten, and the owner's
    /// next request would not end the session. This way forgetting a token takes seven times as long as it was in use:
    /// fifteen others must each have been in use for half of that time.
    mutating func forgetOneToken() {
        guard retiredTokens.count > RetiredToken.most, let oldest = retiredTokens.first else { return }
        // The last one stays, because it tells since when the current token is in use.
        let others = retiredTokens.indices.dropFirst().dropLast()
        guard let shortest = others.min(by: { retiredTokens[$0].age < retiredTokens[$1].age }),
            retiredTokens[shortest].age < oldest.age / 2
        else {
            retiredTokens.removeFirst()
            return
        }
        retiredTokens.remove(at: shortest)
    }
}
