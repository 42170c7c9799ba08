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
