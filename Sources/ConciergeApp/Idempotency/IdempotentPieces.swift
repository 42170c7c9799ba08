import HTTPServer

/// The work of ``IdempotencyMiddleware`` for bodies in pieces, which are never in memory as a whole.
///
/// Whether the same request was sent before is known only at the end of the body. So a request in progress is
/// identified by its head. If its key is known already, the body is read to its end and dropped before the response is
/// replayed or 422 is sent.
///
/// Only a response to the whole body is kept. After an error, a part of the body is missing: sending the request again
/// with the same key executes it again.
struct IdempotentPieces: Sendable {
    let store: IdempotencyStore
    let scope: IdempotencyScope

    typealias Work = (inout FingerprintedBody) async throws -> HTTPResponse

    func respond(to request: HTTPRequest, _ work: Work) async throws -> HTTPResponse {
        let key = request.fields.contains(.idempotencyKey) ? try IdempotencyKey(of: request) : nil
        var body = FingerprintedBody(of: request, isFingerprinted: key != nil)
        guard let key else { return try await work(&body) }
        switch store.begin(
            scope: scope, key: key, fingerprint: IdempotencyFingerprint(ofHead: request), of: request.client.network)
        {
        case .proceed(let ticket):
            let response: HTTPResponse
            do {
                response = try await work(&body)
            } catch {
                store.abandon(ticket)
                throw error
            }
            if body.isWhole {
                store.finish(ticket, response, fingerprint: body.fingerprint())
            } else {
                store.abandon(ticket)
            }
            return response
        case .inProgress: throw HTTPError.requestInProgress
        case .mismatch, .replay:
            do {
                while try await body.next() != nil {}
            } catch {
                // The client has disconnected.
                throw HTTPError.requestInProgress
            }
            let decision = store.begin(
                scope: scope, key: key, fingerprint: body.fingerprint(), of: request.client.network)
            // The entry was dropped just now, and the body is gone.
            if case .proceed(let ticket) = decision { store.abandon(ticket) }
            return try decision.replay(to: request)
        }
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
    consuming func fingerprint() -> IdempotencyFingerprint {
        withUnsafeBytes(of: count.littleEndian) { hasher.add($0) }
        return IdempotencyFingerprint(hasher.finish())
    }
}
