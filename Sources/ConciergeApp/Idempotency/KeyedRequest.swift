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
        var secret: ResponseSecret?
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

    /// The response has a secret: it is replayed as long as that is good for something.
    func carries(_ secret: ResponseSecret) { state.withLock { $0.secret = secret } }

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
    func carries(_ token: SessionToken) { keyed?.carries(.token(token.presented.digest)) }

    /// The same for a link to a journey.
    func carries(_ link: JourneyLink) { keyed?.carries(.link(link.digest)) }
}

/// What a response shows once. A replay does not show it when it opens nothing any more.
enum ResponseSecret: Sendable, Equatable {
    /// It opens the session.
    case token(TokenDigest)
    /// It leads to a journey of the session.
    case link(SHA256Digest)

    func isGood(in session: Session) -> Bool {
        switch self {
        case .token(let token): session.isOwn(token)
        case .link(let link): session.isGood(link)
        }
    }

    var hasEnded: String {
        switch self {
        case .token: "The request was executed; the token in its response has been replaced or has ended."
        case .link: "The request was executed; the link in its response has been used, or leads nowhere any more."
        }
    }
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

/// A response that can only be read with the caller and the idempotency key.
///
/// AES-256-GCM encrypts all of it: status, fields, body. The key is a SHA-256 of a label, the caller and the
/// idempotency key, used once. That derivation suffices: the input holds the whole secret, one key of full length is
/// derived from it, and the entry's id, which another label derives from the same input, does not help to find the key.
/// The entry's id is authenticated too, so a response that was moved to another entry cannot be opened.
struct SealedResponse: Sendable {
    let response: HTTPResponse
    let secret: ResponseSecret?

    /// Nonce, ciphertext, tag; nothing when the response is longer than `limit`.
    static func seal(
        _ response: HTTPResponse, _ secret: ResponseSecret?, atMost limit: Int, key: SHA256Digest,
        for id: ShortDigest, random: any RandomSource
    ) -> [UInt8] {
        guard let text = ResponseBytes.write(response, secret, atMost: limit) else { return [] }
        return id.bytes.withUnsafeBytes { AuthenticatedCipher.seal(text, key: key, authenticating: $0, random: random) }
    }

    /// Opens what ``seal(_:_:atMost:key:for:random:)`` has made; `nil` when the key or the entry is wrong, or any bit
    /// has changed.
    init?(_ sealed: [UInt8], key: SHA256Digest, for id: ShortDigest) {
        let text = sealed.withUnsafeBytes { sealed in
            id.bytes.withUnsafeBytes { AuthenticatedCipher.open(sealed, key: key, authenticating: $0) }
        }
        guard let (response, secret) = text.flatMap(ResponseBytes.read) else { return nil }
        (self.response, self.secret) = (response, secret)
    }
}

/// A response as bytes: format (1), the kind of its secret (1: none, a token, a link), the digest of that (32, if it
/// has one), status, length of the fields, the fields as they are sent, body. Numbers have 32 bits, little-endian.
private enum ResponseBytes {
    private static let format: UInt8 = 1

    static func write(_ response: HTTPResponse, _ secret: ResponseSecret?, atMost limit: Int) -> [UInt8]? {
        let fields = response.fields.wholeText
        let (kind, digest): (UInt8, SHA256Digest?) =
            switch secret {
            case nil: (0, nil)
            case .token(let digest): (1, digest)
            case .link(let digest): (2, digest)
            }
        let count = 10 + (digest == nil ? 0 : SHA256Digest.byteCount) + fields.count + response.body.count
        guard count <= limit else { return nil }
        var bytes = [format, kind]
        bytes.reserveCapacity(count)
        digest?.withBytes { bytes.append(contentsOf: $0) }
        for number in [UInt32(response.status.code), UInt32(fields.count)] {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        bytes += fields
        bytes += response.body
        return bytes
    }

    /// `nil` when ``write(_:_:atMost:)`` did not make it.
    static func read(_ bytes: [UInt8]) -> (HTTPResponse, ResponseSecret?)? {
        guard bytes.count >= 10, bytes[0] == format, bytes[1] <= 2 else { return nil }
        var rest = bytes[2...]
        var secret: ResponseSecret?
        if bytes[1] > 0 {
            guard let digest = SHA256Digest(bytes: rest.prefix(SHA256Digest.byteCount)) else { return nil }
            secret = bytes[1] == 1 ? .token(digest) : .link(digest)
            rest = rest.dropFirst(SHA256Digest.byteCount)
        }
        guard rest.count >= 8 else { return nil }
        let (status, length) = rest.withUnsafeBytes {
            (
                UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)),
                Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            )
        }
        rest = rest.dropFirst(8)
        guard let status = UInt16(exactly: status), length <= rest.count else { return nil }
        var fields = HTTPFields(wholeText: Array(rest.prefix(length)))
        // It names the first request. Every response has an id of its own.
        if fields[.requestID] != nil { fields[.requestID] = nil }
        return (HTTPResponse(HTTPStatus(status), fields: fields, body: Array(rest.dropFirst(length))), secret)
    }
}
