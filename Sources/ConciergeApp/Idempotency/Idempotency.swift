import Configuration
import HTTPServer
import Sessions
import Synchronization

/// Requests with an `Idempotency-Key`: which of them are in progress in this process, and how their responses are kept.
///
/// A response is kept with what the request has changed, in the session's own commit, so it outlives the process and is
/// found by every server on the store. Nothing in it can be read without the client's key: it is found by a digest of
/// caller and key, and encrypted with another such digest, which is kept only while the request is in progress (see
/// ``SealedResponse``). So a token in a response is as unreadable there as its SHA-256 is elsewhere, if clients send
/// keys that cannot be guessed.
package final class Idempotency: Sendable {
    /// The limits of number, size and time.
    package struct Limits: Sendable {
        /// How long a response is kept.
        package var retention = Duration.seconds(24 * 3600)
        /// The most keys of requests that name no session, and about the most KiB of their responses
        /// (``LoneReplay/Content/keys``). Each session has limits of its own (``ReplayLimits``).
        package var entries = 100_000
        /// Of a longer response (fields and body) only the key is kept, because it would displace many others: the
        /// request is not executed again, and has no replay.
        package var responseBytes = 64 << 10

        package init() {}

        package init(_ configuration: Configuration.Idempotency) {
            retention = configuration.retention
            entries = configuration.maxEntries
        }
    }

    let limits: Limits
    let sessions: Sessions
    private let clock: any SessionClock
    let random: any RandomSource
    /// The fingerprints of requests in progress. One lock: under it is one look-up, only for requests with a key.
    private let inProgress = Mutex<[ShortDigest: ShortDigest]>([:])

    package init(
        limits: Limits = Limits(), sessions: Sessions, clock: any SessionClock,
        random: any RandomSource = SystemRandom()
    ) {
        self.limits = limits
        self.sessions = sessions
        self.clock = clock
        self.random = random
    }

    /// When a response that is made now is forgotten.
    var endOfReplay: Int64 { clock.now() + limits.retention.milliseconds }

    /// Notes that a request is in progress.
    ///
    /// - Throws: `HTTPError` 409 `request_in_progress`, 422 `idempotency_key_reused`.
    func begin(
        _ scope: IdempotencyScope, _ key: IdempotencyKey, _ fingerprint: ShortDigest, of caller: PresentedToken? = nil
    ) throws(HTTPError) -> KeyedRequest {
        let id = Self.id(key, of: scope)
        let other = inProgress.withLock { requests -> ShortDigest? in
            if let other = requests[id] { return other }
            requests[id] = fingerprint
            return nil
        }
        if let other { throw other == fingerprint ? .requestInProgress : .idempotencyKeyReused }
        return KeyedRequest(
            id: id, fingerprint: fingerprint, token: caller,
            encryptionKey: Self.digest("concierge idempotency: what encrypts a response", scope, key), of: self)
    }

    /// Where the response to a request with the key is.
    static func id(_ key: IdempotencyKey, of scope: IdempotencyScope) -> ShortDigest {
        ShortDigest(digest("concierge idempotency: where a response is", scope, key))
    }

    /// It is not in progress any more.
    func end(_ id: ShortDigest) { inProgress.withLock { $0[id] = nil } }

    /// How many requests are in progress.
    package var count: Int { inProgress.withLock(\.count) }

    /// After 401, 429 and 5xx, trying again may help; after 412 and 428 the condition did not hold, and the next
    /// request may have another. Other refusals are kept: a late copy of the request must not do what the client was
    /// told is not done.
    static func isKept(_ status: HTTPStatus) -> Bool {
        switch status {
        case .unauthorized, .tooManyRequests, .preconditionFailed, .preconditionRequired: false
        default: status.code < 500
        }
    }

    private static func digest(
        _ label: StaticString, _ scope: IdempotencyScope, _ key: IdempotencyKey
    ) -> SHA256Digest {
        var hasher = PartsHasher(label)
        scope.add(to: &hasher)
        hasher.add(key.bytes)
        return hasher.finish()
    }

    // MARK: Replays

    /// The response to a copy of a request that was executed before.
    ///
    /// - Throws: `HTTPError` 422 `idempotency_key_reused`, 409 `replay_expired`; the store's error.
    func replay(
        _ executed: ExecutedBefore.Place, of keyed: KeyedRequest, to request: HTTPRequest
    ) async throws -> HTTPResponse {
        switch executed {
        case .session(let session, let entry):
            guard entry.fingerprint == keyed.fingerprint else { throw HTTPError.idempotencyKeyReused }
            guard let sealed = try await session.response(entry.id), let kept = keyed.opened(sealed) else {
                throw HTTPError.replayExpired("The request was executed; its response is not kept.")
            }
            // What has ended is shown to nobody, least of all as if it were new.
            if let secret = kept.secret, !secret.isGood(in: session) {
                throw HTTPError.replayExpired(secret.hasEnded)
            }
            return kept.response.replayed(to: request)
        case .madeSession(let id, let fingerprint):
            guard fingerprint == keyed.fingerprint else { throw HTTPError.idempotencyKeyReused }
            guard let session = try await sessions.session(id), let entry = session.replay(of: keyed.id) else {
                throw HTTPError.replayExpired("The request was executed; the session that it made has ended.")
            }
            return try await replay(.session(session, entry), of: keyed, to: request)
        }
    }

    /// The same for a request that names no session.
    func replay(_ lone: LoneReplay, of keyed: KeyedRequest, to request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        guard lone.fingerprint == keyed.fingerprint else { throw .idempotencyKeyReused }
        guard case .response(let sealed) = lone.content, let kept = keyed.opened(sealed) else {
            throw .replayExpired("The request was executed; its response is not kept.")
        }
        return kept.response.replayed(to: request)
    }

    // MARK: Responses that no unit of work has kept

    /// Keeps a response whose request has changed nothing in a session, or what no commit has a part in.
    ///
    /// - Returns: the response, or the one that a copy of the request has left meanwhile.
    func keep(
        _ response: HTTPResponse, of keyed: KeyedRequest, in place: KeyOwner.Place, to request: HTTPRequest
    ) async throws -> HTTPResponse {
        guard let replay = keyed.replay(of: response) else { return response }
        switch place {
        case .session(let session):
            do {
                try await session.keep(replay)
            } catch let executed as ExecutedBefore {
                return try await self.replay(executed.place, of: keyed, to: request)
            } catch SessionError.ended, SessionError.unauthenticated, SessionError.sessionTooLarge {
                // The session is over, or so large that nothing can be added: then the response is all there is.
                return response
            }
        case .newSession: break
        case .none:
            guard let lone = keyed.lone(replay, response) else { return response }
            if let other = try await sessions.keep(lone, atMost: limits.entries) {
                return try self.replay(other, of: keyed, to: request)
            }
        }
        return response
    }
}

extension KeyedRequest {
    /// Refusals are not kept by themselves: those of callers who name no session could fill the store, and the same
    /// request is refused again.
    fileprivate func lone(_ replay: Replay, _ response: HTTPResponse) -> LoneReplay? {
        guard response.status.code < 400 else { return nil }
        let entry = replay.entry
        return LoneReplay(
            id: entry.id, fingerprint: entry.fingerprint, endsAt: entry.endsAt, content: .response(replay.response))
    }
}

extension HTTPResponse {
    /// Marked as a replay. A problem in it names the request that it responds to.
    fileprivate func replayed(to request: HTTPRequest) -> HTTPResponse {
        var response = self
        response.nameInProblem(request.id.text)
        response.fields[.idempotencyReplayed] = "true"
        return response
    }
}

extension HTTPError {
    static let idempotencyKeyReused = HTTPError(
        .unprocessableContent, code: "idempotency_key_reused",
        detail: "This Idempotency-Key was first sent with another request. Another request needs another key.")
    static let requestInProgress = HTTPError(
        .conflict, code: "request_in_progress",
        detail: "The first request with this Idempotency-Key is still in progress.", fields: [.retryAfter: "1"])

    static func replayExpired(_ detail: String) -> HTTPError {
        HTTPError(.conflict, code: "replay_expired", detail: detail)
    }
}
