import HTTPServer
import JSONDocument
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

    consuming func finish() -> SHA256Digest { hasher.digest }
}

extension PartsHasher {
    /// Adds a JSON value: equal values give the same input, however they are written.
    mutating func add(_ value: JSONDocument) {
        switch value.kind {
        case .null: add("null")
        case .bool: add(value.bool == true ? "true" : "false")
        case .integer, .double:
            add("number")
            if let int = value.int {
                withUnsafeBytes(of: int.littleEndian) { add($0) }
            } else if value.kind == .double, let double = value.double {
                withUnsafeBytes(of: double.bitPattern.littleEndian) { add($0) }
            } else {
                add(value.serialized())
            }
        case .string:
            add("string")
            add(value.string ?? "")
        case .array:
            add("array \(value.count)")
            for element in value.elements ?? [] { add(element) }
        case .object:
            add("object \(value.count)")
            // In the order of their names.
            for member in value.members ?? [] {
                add(member.name)
                add(member.value)
            }
        }
    }
}

/// A digest of a request: method, route and its parameters, query, media type and body. Two requests with one key and
/// different fingerprints are a mistake of the client.
///
/// A body counts as the JSON value that it is: another order of members, blanks, or a `charset` make no other request.
/// Neither does the session's own id in place of `current`.
enum IdempotencyFingerprint {
    private static func head(_ label: StaticString, _ request: HTTPRequest, _ place: KeyOwner.Place) -> PartsHasher {
        var hasher = PartsHasher(label)
        hasher.add(request.method.description)
        hasher.add(request.match.route?.pattern.text ?? request.target)
        for name in request.match.route?.pattern.parameterNames ?? [] {
            let value = request.parameter(name)
            // Where the response is kept says as much. Another session of the same user can be named, too.
            if name == "session", place.isSession(named: value) { continue }
            hasher.add(value)
        }
        let target = request.hasQuery ? request.target : ""
        hasher.add(target.firstIndex(of: "?").map { target[$0...] } ?? "")
        return hasher
    }

    /// - Parameter place: where the response is kept.
    /// - Throws: `HTTPError.bodyIsAwaited`.
    static func of(_ request: HTTPRequest, keptIn place: KeyOwner.Place) throws(HTTPError) -> ShortDigest {
        let body = try request.body
        var hasher = head("concierge idempotency: what was asked for", request, place)
        guard !body.isEmpty else { return ShortDigest(hasher.finish()) }
        hasher.add(mediaType(of: request))
        if let document = try? JSONDocument(parsing: body) { hasher.add(document) } else { hasher.add(body) }
        return ShortDigest(hasher.finish())
    }

    /// In lower case, without parameters.
    private static func mediaType(of request: HTTPRequest) -> [UInt8] {
        let value = request.fields.bytes(of: .contentType) ?? []
        let name = value[..<(value.firstIndex(of: UInt8(ascii: ";")) ?? value.endIndex)].trimmed
        return name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}

extension PartsHasher {
    fileprivate mutating func add(_ part: Substring) { add(String(part)) }
}

/// The owner of an idempotency key. The same key of two callers is two keys: no caller gets another's response.
package enum IdempotencyScope: Sendable, Equatable {
    /// A caller with a valid token, and the user who is signed in: the next user of a session is another caller.
    case session(SessionID, userID: String?)
    /// A caller without a token, identified by its address and by what it says of itself: see
    /// ``SessionCaller/keyOwner(of:)``.
    case peer(String)
    /// A caller with the key of the admin listener, and the session whose responses the key is looked for among.
    case administrator(SessionID?)

    /// The owner of the caller's keys before they signed in.
    var asGuest: IdempotencyScope? {
        if case .session(let id, .some) = self { .session(id, userID: nil) } else { nil }
    }

    func add(to hasher: inout PartsHasher) {
        switch self {
        case .session(let id, let userID):
            hasher.add("session")
            withUnsafeBytes(of: (id.high, id.low)) { hasher.add($0) }
            if let userID { hasher.add(userID) }
        case .peer(let trace):
            hasher.add("peer")
            hasher.add(trace)
        case .administrator(let id):
            hasher.add("administrator")
            if let id { withUnsafeBytes(of: (id.high, id.low)) { hasher.add($0) } }
        }
    }
}
