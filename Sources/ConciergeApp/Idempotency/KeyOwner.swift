import HTTPServer
import Sessions

/// Whose an idempotency key is, and where the response to its request is kept.
package struct KeyOwner: Sendable {
    package enum Place: Sendable {
        /// With the session that the request is about.
        case session(Session)
        /// With the session that the request makes.
        case newSession
        /// By itself.
        case none
    }

    let scope: IdempotencyScope
    let place: Place
    /// The token that has shown whose it is; `nil` for a caller without one.
    let token: PresentedToken?

    package init(_ scope: IdempotencyScope, _ place: Place, _ token: PresentedToken? = nil) {
        self.scope = scope
        self.place = place
        self.token = token
    }

    /// A caller with the key of the admin listener, whose request is about that session, or none.
    static func administrator(_ session: Session?) -> KeyOwner {
        KeyOwner(.administrator(session?.id), session.map { .session($0) } ?? .none)
    }
}
