import HTTPServer
import Sessions

/// The SHA-256 of a list of parts, each preceded by its length, so that two different lists never give the same input.
/// The first part is a label of the digest's purpose, so that two purposes never give the same digest.
struct PartsHasher: ~Copyable {
    private var hasher = SHA256Hasher()

    init(_ label: StaticString) { add(UnsafeRawBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount)) }

    mutating func add(_ part: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: UInt64(part.count).littleEndian) { hasher.add($0) }
        hasher.add(part)
    }

    mutating func add(_ part: some Collection<UInt8>) {
        if part.withContiguousStorageIfAvailable({ add(UnsafeRawBufferPointer($0)) }) == nil { add(Array(part)) }
    }

    mutating func add(_ part: String) {
        var part = part
        part.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// Adds a piece of a part. The length of the whole part must follow as a part of its own.
    mutating func `continue`(with piece: [UInt8]) { hasher.add(piece) }

    consuming func finish() -> SHA256Digest { hasher.digest }
}

/// A digest of a request: method, route, target as sent, content type and body. Two requests with one key and different
/// fingerprints are a mistake of the client.
package struct IdempotencyFingerprint: Sendable, Equatable {
    private let digest: SHA256Digest

    init(_ digest: SHA256Digest) { self.digest = digest }

    var bytes: [UInt8] { digest.bytes }

    /// Of everything except the body, while that has not arrived.
    init(ofHead request: HTTPRequest) {
        digest = Self.head("concierge idempotency: what is being asked for", request).finish()
    }

    static func head(_ label: StaticString, _ request: HTTPRequest) -> PartsHasher {
        var hasher = PartsHasher(label)
        hasher.add(request.method.description)
        hasher.add(request.match.route?.pattern.text ?? "")
        hasher.add(request.target)
        hasher.add(request.fields.bytes(of: .contentType) ?? [])
        return hasher
    }

    /// - Throws: `HTTPError.bodyIsAwaited`.
    package init(of request: HTTPRequest) throws(HTTPError) {
        var hasher = Self.head("concierge idempotency: what was asked for", request)
        hasher.add(try request.body)
        digest = hasher.finish()
    }
}

/// The owner of an idempotency key. The same key of two callers is two keys: no caller gets another's response.
package enum IdempotencyScope: Sendable, Equatable {
    /// A caller with a valid token, and the user who is signed in: the next user of a session is another caller.
    case session(SessionID, userID: String?)
    /// A caller without a token, identified by its address and by what it says of itself: see
    /// ``SessionCaller/idempotencyScope(of:)``.
    case peer(String)
    /// A caller with the key of the admin listener.
    case administrator

    func add(to hasher: inout PartsHasher) {
        switch self {
        case .session(let id, let userID):
            hasher.add("session")
            withUnsafeBytes(of: (id.high, id.low)) { hasher.add($0) }
            if let userID { hasher.add(userID) }
        case .peer(let trace):
            hasher.add("peer")
            hasher.add(trace)
        case .administrator: hasher.add("administrator")
        }
    }
}
