/// What is left of a token that a sign-in from a flow has ended: with a proof, its holder gets the session's new token,
/// once.
///
/// ```text
///   sign-in ──▶ open ──right proof──▶ done: copies of that request get their response again
///                │                      │
///                └──── rotationGrace ───┴──▶ over: the token is unknown, like any other
/// ```
///
/// Until the exchange nobody has the session's token: the server has made it, and kept only its digest. A session whose
/// token is never fetched expires like one that nobody uses.
///
/// A class, because nearly no session has one.
package final class TokenExchange: Sendable {
    /// The token that has ended.
    package let former: TokenDigest
    /// The digest of the proof; `nil` when the event brought none.
    package let challenge: CodeChallenge?
    /// Whether the event came with the browser's cookie, which is a proof, too.
    package let isByCookie: Bool
    /// In steady time.
    package let endsAt: Int64
    /// Whether the new token was handed over.
    package let isDone: Bool

    package init(
        former: TokenDigest, challenge: CodeChallenge?, isByCookie: Bool = false, endsAt: Int64, isDone: Bool = false
    ) {
        self.former = former
        self.challenge = challenge
        self.isByCookie = isByCookie
        self.endsAt = endsAt
        self.isDone = isDone
    }

    /// The same after the new token was handed over.
    var done: TokenExchange {
        TokenExchange(former: former, challenge: challenge, isByCookie: isByCookie, endsAt: endsAt, isDone: true)
    }

    /// Whether it is that token's, and its time is not over.
    func isOf(_ token: TokenDigest, now: Int64) -> Bool { token == former && now < endsAt }

    /// Whether that proves who holds the token.
    func isProved(by proof: ExchangeProof?, in mode: SessionMode) -> Bool {
        switch proof {
        case .verifier(let shown): challenge == shown
        case .cookie: isByCookie && mode == .cookie
        case nil: false
        }
    }
}

/// What a caller shows beside a token that has ended.
package enum ExchangeProof: Sendable {
    /// The challenge of the verifier that was sent.
    case verifier(CodeChallenge)
    /// A browser has sent the token in a cookie that no page, and no other host, can have set.
    case cookie
}
