import HTTPServer

/// What ``IdempotencyMiddleware`` does, for requests whose body comes in pieces and never is there as a whole.
///
/// Until the end of the body nobody can tell whether the same was sent before. So what is done for the first time is known
/// by its head; and when its key is known already, the body is read to its end, and nothing is done with it, before the
/// remembered answer is given, or 422.
///
/// Only an answer that was given to the whole body is remembered. An error means that not all of it was taken in: sending
/// it again with the same key goes on.
struct IdempotentPieces: Sendable {
    let store: IdempotencyStore
    let scope: IdempotencyScope

    typealias Work = (inout FingerprintedBody) async throws -> HTTPResponse

    func respond(to request: HTTPRequest, _ work: Work) async throws -> HTTPResponse {
        let key = try IdempotencyKey(of: request)
        var body = FingerprintedBody(of: request, isFingerprinted: key != nil)
        guard let key else { return try await work(&body) }
        switch store.begin(scope: scope, key: key, fingerprint: IdempotencyFingerprint(ofHead: request)) {
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
                // Nobody is left to be answered.
                throw HTTPError.requestInProgress
            }
            return try replay(body.fingerprint(), key)
        }
    }

    private func replay(_ fingerprint: IdempotencyFingerprint, _ key: IdempotencyKey) throws -> HTTPResponse {
        switch store.begin(scope: scope, key: key, fingerprint: fingerprint) {
        case .replay(var response):
            response.fields[.idempotencyReplayed] = "true"
            return response
        case .mismatch: throw HTTPError.idempotencyKeyReused
        case .inProgress: throw HTTPError.requestInProgress
        case .proceed(let ticket):
            // It was forgotten just now, and the body is gone.
            store.abandon(ticket)
            throw HTTPError.requestInProgress
        }
    }
}
