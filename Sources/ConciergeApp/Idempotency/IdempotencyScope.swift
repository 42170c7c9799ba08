import HTTPServer
import Sessions

/// Whose an idempotency key is. The same key of two callers is two keys: nobody is given another one's answer.
package enum IdempotencyScope: Sendable, Equatable {
    /// A caller whose token was found good for this very request.
    case session(SessionID)
    /// A caller without a token, told apart by the address that the request came from and by what it says of itself: see
    /// ``SessionCaller/idempotencyScope(of:)``.
    case peer(String)
    /// Whoever holds the key of the admin listener.
    case administrator

    func add(to digest: inout IdempotencyDigest.Builder) {
        switch self {
        case .session(let id):
            digest.add("session")
            digest.add(id.description)
        case .peer(let trace):
            digest.add("peer")
            digest.add(trace)
        case .administrator: digest.add("administrator")
        }
    }
}
