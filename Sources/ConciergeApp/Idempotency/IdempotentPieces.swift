import HTTPServer
import Sessions

/// The work of ``IdempotencyMiddleware`` for bodies in pieces, which are never in memory as a whole.
///
/// Whether the same request was sent before is known only at the end of the body. So a request in progress is
/// identified by its head. If its key is known already, the body is read to its end and dropped before the response is
/// replayed or 422 is sent.
///
/// Only a response to the whole body is kept, when all is done. After an error, or the end of the server, a part of the
/// body is missing: sending the request again with the same key executes it again.
struct IdempotentPieces: Sendable {
    let idempotency: Idempotency
    let scope: IdempotencyScope

    typealias Work = (inout FingerprintedBody) async throws -> HTTPResponse

    func respond(to request: HTTPRequest, _ work: Work) async throws -> HTTPResponse {
        let key = request.fields.contains(.idempotencyKey) ? try IdempotencyKey(of: request) : nil
        var body = FingerprintedBody(of: request, isFingerprinted: key != nil)
        guard let key else { return try await work(&body) }
        let keyed = try idempotency.begin(scope, key, IdempotencyFingerprint.ofHead(request))
        defer { keyed.end() }
        if let lone = try await idempotency.sessions.loneReplay(keyed.id) {
            do {
                while try await body.next() != nil {}
            } catch {
                // The client has disconnected.
                throw HTTPError.requestInProgress
            }
            return try idempotency.replay(lone, of: keyed.with(body.fingerprint()), to: request)
        }
        let response = try await work(&body)
        guard body.isWhole else { return response }
        return try await idempotency.keep(response, of: keyed.with(body.fingerprint()), in: .none, to: request)
    }
}

/// A body in pieces, and the fingerprint of its request, which is known at the end.
struct FingerprintedBody: ~Copyable {
    private let reader: HTTPBodyReader?
    private let isFingerprinted: Bool
    private var hasher: PartsHasher
    private var count: UInt64 = 0
    /// Whether the end has arrived.
    private(set) var isWhole = false

    /// - Parameter isFingerprinted: false when the fingerprint, which takes time, is not needed.
    init(of request: HTTPRequest, isFingerprinted: Bool) {
        reader = request.reader
        self.isFingerprinted = isFingerprinted
        hasher = IdempotencyFingerprint.head("concierge idempotency: what was asked for, in pieces", request)
    }

    /// The next bytes; `nil` at the end.
    mutating func next() async throws(HTTPBodyBroken) -> [UInt8]? {
        guard let piece = try await reader?.next() else {
            isWhole = true
            return nil
        }
        if isFingerprinted {
            count += UInt64(piece.count)
            hasher.continue(with: piece)
        }
        return piece
    }

    /// It does not depend on the sizes of the pieces.
    consuming func fingerprint() -> ShortDigest {
        withUnsafeBytes(of: count.littleEndian) { hasher.add($0) }
        return ShortDigest(hasher.finish())
    }
}
