import HTTPServer
import Sessions
import Synchronization

/// The right to execute a request with an idempotency key. A key has one at a time in this process.
///
/// ``IdempotencyMiddleware`` attaches it to the request. A handler whose work is a unit of work makes a
/// ``UnitResponse``, so that the response is kept with what it has changed; the middleware keeps all other responses.
package final class KeyedRequest: Sendable {
    let id: ShortDigest
    let fingerprint: ShortDigest
    /// The caller's, so that it is hashed once; `nil` for a caller without one.
    fileprivate let token: PresentedToken?
    private let encryptionKey: SHA256Digest
    private let idempotency: Idempotency

    private struct State {
        /// The response that the last unit of work has made, and whether it has kept it.
        var made: HTTPResponse?
        var isKept = false
        /// The token that the response has.
        var secret: TokenDigest?
        var isOver = false
    }

    private let state = Mutex(State())

    init(
        id: ShortDigest, fingerprint: ShortDigest, token: PresentedToken?, encryptionKey: SHA256Digest,
        of idempotency: Idempotency
    ) {
        self.id = id
        self.fingerprint = fingerprint
        self.token = token
        self.encryptionKey = encryptionKey
        self.idempotency = idempotency
    }

    deinit { end() }

    /// Frees the key: the response is kept by now, or the request was not executed.
    func end() {
        let isOver = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver
        }
        if !isOver { idempotency.end(id) }
    }

    /// The response has a token: it is replayed as long as that opens the session.
    func carries(_ token: SessionToken) { state.withLock { $0.secret = token.presented.digest } }

    /// The most keys that a store remembers of requests that name no session.
    var mostLone: Int { idempotency.limits.entries }

    /// For the unit of work that executes the request: makes its response within the unit.
    fileprivate func once<Value>(_ show: @escaping @Sendable (Value) throws -> HTTPResponse) -> Once<Value> {
        Once(id: id) { [self] value in
            let response = try? show(value)
            let replay = response.flatMap(replay)
            state.withLock { ($0.made, $0.isKept) = (response, replay != nil) }
            return replay
        }
    }

    fileprivate var made: HTTPResponse? { state.withLock { $0.made } }

    /// Whether a unit of work has kept the response.
    var isKept: Bool { state.withLock(\.isKept) }

    /// What is kept of a response; `nil` unless a copy of the request gets the same.
    func replay(of response: HTTPResponse) -> Replay? {
        guard Idempotency.isKept(response.status) else { return nil }
        let secret = state.withLock(\.secret)
        let sealed = SealedResponse.seal(
            response, secret, atMost: idempotency.limits.responseBytes, key: encryptionKey, for: id,
            random: idempotency.random)
        return Replay(id: id, fingerprint: fingerprint, endsAt: idempotency.endOfReplay, response: sealed)
    }

    /// The response that was kept; `nil` when the bytes are another one's, or damaged.
    func opened(_ sealed: [UInt8]) -> SealedResponse? { SealedResponse(sealed, key: encryptionKey, for: id) }
}

extension HTTPRequest {
    fileprivate var keyed: KeyedRequest? { attachment as? KeyedRequest }

    /// The token that the owner of the request's idempotency key has shown.
    var keyToken: PresentedToken? { keyed?.token }

    /// See ``KeyedRequest/mostLone``.
    var mostLone: Int { keyed?.mostLone ?? .max }

    /// See ``KeyedRequest/carries(_:)``.
    func carries(_ token: SessionToken) { keyed?.carries(token) }
}

/// The response to a request, made of the result of the unit of work that executes it: within the unit if the response
/// is kept with what that commits, else afterwards.
struct UnitResponse<Value: Sendable>: Sendable {
    private let keyed: KeyedRequest?
    private let show: @Sendable (Value) throws -> HTTPResponse

    init(to request: HTTPRequest, _ show: @escaping @Sendable (Value) throws -> HTTPResponse) {
        keyed = request.keyed
        self.show = show
    }

    /// For the unit of work; `nil` when copies of the request may be executed again.
    var once: Once<Value>? { keyed?.once(show) }

    func of(_ value: Value) throws -> HTTPResponse { try keyed?.made ?? show(value) }
}
