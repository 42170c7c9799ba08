import HTTPServer
import Sessions
import Synchronization

/// The responses to requests with an `Idempotency-Key`, while they may be replayed.
///
/// Nothing in it can be read without the client's key: an entry is found by a digest of caller and key, and its
/// response is encrypted with another such digest, which is kept only while the request is in progress (see
/// ``SealedResponse``). So a token in a response is as unreadable here as its SHA-256 is elsewhere, if clients send
/// keys that cannot be guessed.
///
/// Responses are bounded in number and in bytes; the oldest of the client with most of them are dropped first. Requests
/// in progress are bounded by the server's limits: dropping one would let the request be executed twice.
///
/// It lives in this process: after a restart every key is new. Processes that share their sessions also share the
/// responses (``SharedNotes``).
package final class IdempotencyStore: Sendable {
    /// The limits of number, size and time.
    package struct Limits: Sendable {
        /// How long a response is kept.
        package var retention = Duration.seconds(24 * 3600)
        /// The most responses.
        package var entries = 100_000
        /// The most bytes of all responses, including ``entryOverhead`` for each.
        package var bytes = 64 << 20
        /// A longer response (fields and body) is not kept, because it would displace hundreds of others.
        package var responseBytes = 64 << 10

        package init() {}

        package init(_ configuration: Configuration.Idempotency) {
            retention = configuration.retention
            entries = configuration.maxEntries
        }
    }

    /// What to do with a request.
    package enum Decision: Sendable {
        /// Execute it, then pass the ticket to ``IdempotencyStore/finish(_:_:)`` or ``IdempotencyStore/abandon(_:)``.
        case proceed(Ticket)
        /// It was executed, with this response.
        case replay(HTTPResponse)
        /// The first request with the key was different.
        case mismatch
        /// The first request with the key is in progress.
        case inProgress
    }

    /// The right to execute a request. A key has one at a time.
    package struct Ticket: Sendable {
        fileprivate let id: SHA256Digest
        fileprivate let encryptionKey: SHA256Digest
        fileprivate let number: UInt64
        /// The mark of the note that tells the other processes of the request; `nil` while there is none.
        fileprivate var mark: [UInt8]?
        fileprivate let fingerprint: IdempotencyFingerprint
    }

    /// About the memory of an entry in the table and in the order, without its response.
    package static let entryOverhead = 256

    private let limits: Limits
    private let retention: Int64
    private let clock: any SessionClock
    private let random: any RandomSource
    /// Where the processes that share their sessions leave responses for each other; nil when there is one process.
    let notes: (any SharedNotes)?
    /// One lock, because there is one limit for all entries. Hashing and encryption happen outside. Under the lock are
    /// a look-up and an append, only for requests with a key, and, when room must be made, a look at all 256 shares.
    let memory = Mutex(IdempotencyMemory())

    package init(
        limits: Limits = Limits(), clock: any SessionClock, random: any RandomSource = SystemRandom(),
        notes: (any SharedNotes)? = nil
    ) {
        self.limits = limits
        self.notes = notes
        retention = limits.retention.milliseconds
        self.clock = clock
        self.random = random
    }

    /// Kept responses, including expired ones that are not dropped yet.
    package var count: Int { memory.withLock(\.count) }

    /// Their bytes.
    package var bytes: Int { memory.withLock(\.bytes) }

    /// Decides what to do with a request, and records it as in progress if it must be executed now.
    ///
    /// - Parameter network: of the client, which shares the memory with others (`HTTPClientAddress.network`).
    package func begin(
        scope: IdempotencyScope, key: IdempotencyKey, fingerprint: IdempotencyFingerprint, of network: UInt64
    ) -> Decision {
        let id = Self.digest("concierge idempotency: where a response is", scope, key)
        let encryptionKey = Self.digest("concierge idempotency: what encrypts a response", scope, key)
        while true {
            let found = memory.withLock { memory in
                memory.begin(id, fingerprint, of: network, now: clock.now())
            }
            switch found {
            case .mine(let number):
                return .proceed(
                    Ticket(id: id, encryptionKey: encryptionKey, number: number, fingerprint: fingerprint))
            case .mismatch: return .mismatch
            case .inProgress: return .inProgress
            case .answered(let sealed, let number):
                if let response = sealed.opened(with: encryptionKey, for: id) { return .replay(response) }
                // A damaged response counts as missing.
                memory.withLock { $0.drop(id, number) }
            }
        }
    }

    /// Keeps the response, unless the client should try again after it.
    ///
    /// - Parameter fingerprint: of the whole request, if that was not known at the beginning.
    package func finish(_ ticket: Ticket, _ response: HTTPResponse, fingerprint: IdempotencyFingerprint? = nil) {
        guard Self.isKept(response.status),
            let sealed = SealedResponse(
                response, atMost: limits.responseBytes, key: ticket.encryptionKey, for: ticket.id, random: random)
        else { return abandon(ticket) }
        if let mark = ticket.mark {
            notes?.replace(
                ticket.id, with: mark + ticket.fingerprint.bytes + [NoteKind.answered] + sealed.sealed, for: retention)
        }
        let dropped = memory.withLock { memory in
            memory.finish(
                ticket.id, ticket.number, sealed, expires: clock.now() + retention, fingerprint: fingerprint,
                mark: ticket.mark)
            return memory.dropOldest(entries: limits.entries, bytes: limits.bytes)
        }
        // So a process keeps no more responses in the store than in its memory.
        for note in dropped { notes?.drop(note.id, of: note.mark) }
    }

    /// The request was not executed: the next one with its key is the first.
    package func abandon(_ ticket: Ticket) {
        if let mark = ticket.mark { notes?.drop(ticket.id, of: mark) }
        memory.withLock { $0.drop(ticket.id, ticket.number) }
    }

    // MARK: Several processes

    /// Asks the other processes about a request that this one may execute.
    ///
    /// - Returns: what to do with it. The ticket is used up unless that is to execute the request.
    /// - Throws: `SessionError` when they cannot be asked.
    func claim(_ ticket: Ticket) async throws -> Decision {
        guard let notes else { return .proceed(ticket) }
        var mark = [UInt8](repeating: 0, count: SharedNoteMark.length)
        mark.withUnsafeMutableBytes { random.fill($0) }
        var marked = ticket
        marked.mark = mark
        let found: [UInt8]?
        do {
            found = try await notes.note(
                mark + ticket.fingerprint.bytes + [NoteKind.inProgress], of: ticket.id, for: Self.longestRequest)
        } catch {
            // The note may have been made.
            abandon(marked)
            throw error
        }
        guard let found else { return .proceed(marked) }
        abandon(ticket)
        let content = found.dropFirst(SharedNoteMark.length)
        let (digest, rest) = (content.prefix(SHA256Digest.byteCount), content.dropFirst(SHA256Digest.byteCount))
        guard digest.elementsEqual(ticket.fingerprint.bytes) else { return .mismatch }
        guard rest.first == NoteKind.answered else { return .inProgress }
        let sealed = SealedResponse(sealed: Array(rest.dropFirst()))
        return sealed.opened(with: ticket.encryptionKey, for: ticket.id).map { .replay($0) } ?? .mismatch
    }

    /// In a note after its mark and the fingerprint.
    private enum NoteKind {
        static let (inProgress, answered): (UInt8, UInt8) = (0, 1)
    }

    /// When a process has ended in the middle of a request, its key is free again after this time. In milliseconds.
    private static let longestRequest: Int64 = 120_000

    /// Drops expired responses, as many as possible without making other callers wait long. Requests do so too; this is
    /// for times without requests.
    package func dropExpired() {
        for share in 0..<IdempotencyMemory.shareCount {
            memory.withLock { $0.dropExpired(now: clock.now(), of: share, atMost: 1_000) }
        }
    }

    /// Drops expired responses from time to time, until the task is cancelled.
    package func run() async {
        while (try? await clock.sleep(milliseconds: Self.sweepInterval)) != nil, !Task.isCancelled { dropExpired() }
    }

    /// How long expired responses, which are never replayed, may stay in memory.
    private static let sweepInterval: Int64 = 30_000

    /// After 401, 429 and 5xx, trying again may help; after 412 and 428 the condition did not hold, and the next
    /// request may have another. Other refusals are kept: a late copy of the request must not do what the client was
    /// told is not done.
    private static func isKept(_ status: HTTPStatus) -> Bool {
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
}
