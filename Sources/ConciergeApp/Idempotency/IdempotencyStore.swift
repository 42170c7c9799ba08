import HTTPServer
import Sessions
import Synchronization

/// The answers that were given to requests with an `Idempotency-Key`, for as long as they may be asked for again.
///
/// Nothing in it can be read without the key that the client sent: an entry is found by a digest of caller and key,
/// and its answer is sealed with another such digest, which is kept only while the request is being worked on (see
/// ``SealedAnswer``). So a token that an answer holds lies here no more readable than its SHA-256 does elsewhere, as
/// long as clients send keys that cannot be guessed.
///
/// What is remembered is bounded in number and in bytes; the oldest go first. What is being worked on is bounded by
/// the requests that the server lets in: such an entry is small beside its request, and dropping it would let the
/// request be done twice.
///
/// It lives in this process only: after a restart a key is new.
package final class IdempotencyStore: Sendable {
    /// Bounds and retention.
    package struct Limits: Sendable {
        /// How long an answer is remembered, from when it was given.
        package var retention = Duration.seconds(24 * 3600)
        /// Answers that are remembered.
        package var entries = 100_000
        /// What they may take, ``entryOverhead`` for each included.
        package var bytes = 64 << 20
        /// A longer answer (fields and body) is not remembered: one should not push out hundreds of others.
        package var answerBytes = 64 << 10

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
        /// It was done: this was the answer.
        case replay(HTTPResponse)
        /// The key was first sent with another request.
        case mismatch
        /// Somebody does it right now.
        case inProgress
    }

    /// The right to answer a request, of which there is one for a key at a time.
    package struct Ticket: Sendable {
        fileprivate let id: IdempotencyDigest
        fileprivate let sealingKey: IdempotencyDigest
        fileprivate let number: UInt64
    }

    /// About what an entry takes in the table and in the order, beside its answer.
    package static let entryOverhead = 256

    private let limits: Limits
    private let retention: Int64
    private let clock: any SessionClock
    private let random: any RandomSource
    /// One lock, because there is one order of age over all. What takes time, hashing and sealing, is done outside:
    /// within are a look-up and an append, well under a microsecond, for requests that carry a key only.
    let memory = Mutex(IdempotencyMemory())

    package init(limits: Limits = Limits(), clock: any SessionClock, random: any RandomSource = SystemRandom()) {
        self.limits = limits
        let (seconds, attoseconds) = limits.retention.components
        retention = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        self.clock = clock
        self.random = random
    }

    /// Answers that are remembered, those among them that have expired but were not yet dropped included.
    package var count: Int { memory.withLock(\.answers) }

    /// Bytes that they take.
    package var bytes: Int { memory.withLock(\.bytes) }

    /// Says what to do with a request, and remembers that it is being worked on if that is to be done now.
    package func begin(
        scope: IdempotencyScope, key: IdempotencyKey, fingerprint: IdempotencyFingerprint
    ) -> Decision {
        let id = Self.digest("concierge idempotency: where an answer is", scope, key)
        let sealingKey = Self.digest("concierge idempotency: what seals an answer", scope, key)
        while true {
            let found = memory.withLock { memory in
                let now = clock.now()
                memory.dropExpired(now: now, atMost: Self.expiredAtOnce)
                return memory.begin(id, fingerprint, now: now)
            }
            switch found {
            case .mine(let number): return .proceed(Ticket(id: id, sealingKey: sealingKey, number: number))
            case .mismatch: return .mismatch
            case .inProgress: return .inProgress
            case .answered(let answer, let number):
                if let response = answer.opened(with: sealingKey, for: id) { return .replay(response) }
                // Damaged: as if it were not there.
                memory.withLock { $0.drop(id, number) }
            }
        }
    }

    /// The request was answered. Remembers the answer, unless it is one after which the client should try again.
    ///
    /// - Parameter fingerprint: what the request turned out to be, if that was not known when it began.
    package func finish(_ ticket: Ticket, _ response: HTTPResponse, fingerprint: IdempotencyFingerprint? = nil) {
        guard Self.isRemembered(response.status),
            let answer = SealedAnswer(
                response, atMost: limits.answerBytes, key: ticket.sealingKey, for: ticket.id, random: random)
        else { return abandon(ticket) }
        memory.withLock { memory in
            memory.finish(
                ticket.id, ticket.number, answer, expires: clock.now() + retention, fingerprint: fingerprint)
            memory.dropOldest(entries: limits.entries, bytes: limits.bytes)
        }
    }

    /// The request came to nothing: the next one with its key is the first.
    package func abandon(_ ticket: Ticket) {
        memory.withLock { $0.drop(ticket.id, ticket.number) }
    }

    /// Drops answers that have expired, as many as may be dropped without holding others up for long. Requests do
    /// so by themselves; this is for when there are none.
    package func dropExpired() {
        memory.withLock { $0.dropExpired(now: clock.now(), atMost: 1_000) }
    }

    /// Drops what has expired, now and then, until the task is cancelled.
    package func run() async {
        while (try? await clock.sleep(milliseconds: Self.sweepInterval)) != nil, !Task.isCancelled { dropExpired() }
    }

    /// Expired answers are never given out; this long they may take memory.
    private static let sweepInterval: Int64 = 30_000

    /// 401, 429 and 5xx say that the server did not do it, and that trying again may help; 412 and 428 that the
    /// condition was not the right one, which is no part of what was asked for and may be another the next time. Other
    /// refusals stay: a copy of the request that arrives late must not do what its client was told is not done.
    private static func isRemembered(_ status: HTTPStatus) -> Bool {
        switch status {
        case .unauthorized, .tooManyRequests, .preconditionFailed, .preconditionRequired: false
        default: status.code < 500
        }
    }

    /// A request adds one answer at most, so that dropping some keeps up, and none pays for a whole day's.
    private static let expiredAtOnce = 16

    private static func digest(
        _ label: String, _ scope: IdempotencyScope, _ key: IdempotencyKey
    ) -> IdempotencyDigest {
        var builder = IdempotencyDigest.Builder(label)
        scope.add(to: &builder)
        builder.add(key.bytes)
        return builder.finish()
    }
}
