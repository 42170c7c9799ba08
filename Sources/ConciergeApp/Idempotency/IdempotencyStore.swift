import HTTPServer
import Sessions
import Synchronization

/// The responses to requests with an `Idempotency-Key`, for as long as they may be replayed.
///
/// Nothing in it can be read without the key that the client sent: an entry is found by a digest of caller and key, and its
/// response is encrypted with another such digest, which is kept only while the request is in progress (see
/// ``SealedResponse``). A token in a response is therefore as unreadable here as its SHA-256 is elsewhere, as long as
/// clients send keys that cannot be guessed.
///
/// Responses are bounded in number and in bytes; the oldest are dropped first. Requests in progress are bounded by what the
/// server accepts: dropping one would let the request be done twice.
///
/// The store lives in this process only: after a restart every key is new.
package final class IdempotencyStore: Sendable {
    /// Bounds and retention.
    package struct Limits: Sendable {
        /// How long a response is kept, from when it was given.
        package var retention = Duration.seconds(24 * 3600)
        /// Responses that are kept.
        package var entries = 100_000
        /// Bytes that they may take, ``entryOverhead`` for each included.
        package var bytes = 64 << 20
        /// A longer response (fields and body) is not kept: one should not push out hundreds of others.
        package var responseBytes = 64 << 10

        package init() {}

        package init(_ configuration: Configuration.Idempotency) {
            retention = configuration.retention
            entries = configuration.maxEntries
        }
    }

    /// What to do with a request.
    package enum Decision: Sendable {
        /// Do it, then give the ticket to ``IdempotencyStore/finish(_:_:)`` or ``IdempotencyStore/abandon(_:)``.
        case proceed(Ticket)
        /// It was done: this was the response.
        case replay(HTTPResponse)
        /// The key was first sent with another request.
        case mismatch
        /// The first request with this key is in progress.
        case inProgress
    }

    /// The right to do a request, of which there is one for a key at a time.
    package struct Ticket: Sendable {
        fileprivate let id: SHA256Digest
        fileprivate let encryptionKey: SHA256Digest
        fileprivate let number: UInt64
    }

    /// About what an entry takes in the table and in the order, beside its response.
    package static let entryOverhead = 256

    private let limits: Limits
    private let retention: Int64
    private let clock: any SessionClock
    private let random: any RandomSource
    /// One lock, because all entries have one order of age. Hashing and encryption happen outside of it: within are a look-up
    /// and an append, well under a microsecond, for requests with a key only.
    let memory = Mutex(IdempotencyMemory())

    package init(limits: Limits = Limits(), clock: any SessionClock, random: any RandomSource = SystemRandom()) {
        self.limits = limits
        let (seconds, attoseconds) = limits.retention.components
        retention = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        self.clock = clock
        self.random = random
    }

    /// Responses that are kept, including those that have expired and are not dropped yet.
    package var count: Int { memory.withLock(\.count) }

    /// Bytes that they take.
    package var bytes: Int { memory.withLock(\.bytes) }

    /// Says what to do with a request, and records that it is in progress if it is to be done now.
    package func begin(
        scope: IdempotencyScope, key: IdempotencyKey, fingerprint: IdempotencyFingerprint
    ) -> Decision {
        let id = Self.digest("concierge idempotency: where a response is", scope, key)
        let encryptionKey = Self.digest("concierge idempotency: what encrypts a response", scope, key)
        while true {
            let found = memory.withLock { memory in
                let now = clock.now()
                memory.dropExpired(now: now, atMost: Self.expiredAtOnce)
                return memory.begin(id, fingerprint, now: now)
            }
            switch found {
            case .mine(let number): return .proceed(Ticket(id: id, encryptionKey: encryptionKey, number: number))
            case .mismatch: return .mismatch
            case .inProgress: return .inProgress
            case .answered(let sealed, let number):
                if let response = sealed.opened(with: encryptionKey, for: id) { return .replay(response) }
                // Damaged: as if it were not there.
                memory.withLock { $0.drop(id, number) }
            }
        }
    }

    /// Keeps the response, unless it is one after which the client should try again.
    ///
    /// - Parameter fingerprint: what the request turned out to be, if that was not known when it began.
    package func finish(_ ticket: Ticket, _ response: HTTPResponse, fingerprint: IdempotencyFingerprint? = nil) {
        guard Self.isKept(response.status),
            let sealed = SealedResponse(
                response, atMost: limits.responseBytes, key: ticket.encryptionKey, for: ticket.id, random: random)
        else { return abandon(ticket) }
        memory.withLock { memory in
            memory.finish(
                ticket.id, ticket.number, sealed, expires: clock.now() + retention, fingerprint: fingerprint)
            memory.dropOldest(entries: limits.entries, bytes: limits.bytes)
        }
    }

    /// The request was not done: the next one with its key is the first.
    package func abandon(_ ticket: Ticket) {
        memory.withLock { $0.drop(ticket.id, ticket.number) }
    }

    /// Drops responses that have expired, as many as possible without holding other callers up for long. Requests do so
    /// too; this is for when there are none.
    package func dropExpired() {
        memory.withLock { $0.dropExpired(now: clock.now(), atMost: 1_000) }
    }

    /// Drops expired responses from time to time, until the task is cancelled.
    package func run() async {
        while (try? await clock.sleep(milliseconds: Self.sweepInterval)) != nil, !Task.isCancelled { dropExpired() }
    }

    /// Expired responses are never replayed; this long they may take memory.
    private static let sweepInterval: Int64 = 30_000

    /// 401, 429 and 5xx say that the server did not do it and that trying again may help; 412 and 428 say that the condition
    /// did not hold, and the next request may have another. Other refusals are kept: a copy of the request that arrives
    /// late must not do what the client was told is not done.
    private static func isKept(_ status: HTTPStatus) -> Bool {
        switch status {
        case .unauthorized, .tooManyRequests, .preconditionFailed, .preconditionRequired: false
        default: status.code < 500
        }
    }

    /// A request adds at most one response, so dropping a few keeps up, and no request pays for a whole day's.
    private static let expiredAtOnce = 16

    private static func digest(
        _ label: StaticString, _ scope: IdempotencyScope, _ key: IdempotencyKey
    ) -> SHA256Digest {
        var hasher = PartsHasher(label)
        scope.add(to: &hasher)
        hasher.add(key.bytes)
        return hasher.finish()
    }
}
