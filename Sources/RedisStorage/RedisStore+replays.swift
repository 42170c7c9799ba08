import Sessions
import Storage
import Synchronization

/// Responses to requests with an idempotency key.
///
/// A session's hash has a small field for each, so that a session is loaded without them; the responses are in a hash
/// beside it, in the same slot, which the script of the commit writes. That hash ends by itself when the last response
/// in it has.
extension RedisStore: ReplayStore {
    package var replays: any ReplayStore { self }

    package func response(_ id: ShortDigest, of session: SessionID) async throws(StoreError) -> [UInt8]? {
        try await ask(RedisRequest("HGET", .text(keys.replays(session)), .text(id.text)))[0].bytes
    }

    package func loneReplay(_ id: ShortDigest, now: Int64) async throws(StoreError) -> LoneReplay? {
        let bytes = try await ask(RedisRequest("GET", .text(keys.loneReplay(id))))[0].bytes
        return bytes.flatMap { RedisClaim($0)?.replay }.flatMap { $0.endsAt > now ? $0 : nil }
    }

    package func keep(
        _ replay: LoneReplay, now: Int64, atMost limit: Int
    ) async throws(StoreError) -> LoneReplay? {
        let claim = RedisClaim(replay: replay)
        let found = try await self.claim(claim, now: now, atMost: limit)
        return found == claim ? nil : found?.replay
    }

    /// Session and claim are in different slots, so they cannot be written together. The claim comes first and names
    /// the session that is about to be made. A copy of the request that finds a claim without its session takes it
    /// over, and first sees to it that the session cannot be made any more. A claim whose session was made says so, so
    /// that a session which has ended since is not made a second time.
    package func create(
        _ session: StoredSession, once: OnceCreated,
        then done: @escaping @Sendable (Result<LoneReplay?, StoreError>) -> Void
    ) {
        Task {
            do throws(StoreError) {
                done(.success(try await createOnce(session, once)))
            } catch {
                done(.failure(error))
            }
        }
    }

    private func createOnce(
        _ session: StoredSession, _ once: OnceCreated
    ) async throws(StoreError) -> LoneReplay? {
        var claim = RedisClaim(replay: once.claim(of: session.record.id))
        var attempts = Self.mostAttempts
        while let found = try await self.claim(claim, now: once.now, atMost: once.mostLone), found != claim {
            guard attempts > 0 else { throw .unavailable("Other servers keep executing copies of a request.") }
            attempts -= 1
            let replay = found.replay
            guard replay.fingerprint == claim.replay.fingerprint, !found.isDone,
                case .session(let other) = replay.content
            else { return replay }
            if try await isMade(other) { return replay }
            if try await ask(exchanging(found, for: claim, now: once.now))[0].number == 1 { break }
        }
        try await Self.wait {
            put(
                session, replacing: nil, flows: [], tasks: once.notice.map { [$0] } ?? [], replay: once.replay, then: $0
            )
        }
        let made = claim
        claim.isDone = true
        send(exchanging(made, for: claim, now: once.now))
        return nil
    }

    /// More copies of a request are not under way.
    private static let mostAttempts = 16
    /// A quarter of a second in all, which only a copy waits whose first server has been killed.
    private static let pauses = (0..<8).map { Duration.milliseconds(1 << $0) }

    /// Whether a session was made. If not, it cannot be made from now on.
    private func isMade(_ id: SessionID) async throws(StoreError) -> Bool {
        // The other server is probably about to make it.
        for pause in Self.pauses {
            if try await ask(RedisRequest("HEXISTS", .text(keys.session(id)), "r"))[0].number == 1 { return true }
            try? await Task.sleep(for: pause)
        }
        var request = RedisRequest()
        request.needsReplicas = true
        request.call(.fence, keys.session(id), .text(String(UInt64.max)), .text(String(Self.lateness)))
        return try await ask(request)[0].number == 1
    }

    /// Puts a claim there, unless there is one.
    ///
    /// - Returns: the one that is there: this one if the request was sent twice.
    private func claim(
        _ claim: RedisClaim, now: Int64, atMost limit: Int
    ) async throws(StoreError) -> RedisClaim? {
        var request = RedisRequest()
        request.needsReplicas = true
        let time = max(1, claim.replay.endsAt - now)
        request.call(.find, keys.loneReplay(claim.replay.id), .bytes(claim.bytes), .text(String(time)))
        let found = try await ask(request)[0].bytes
        guard let found else {
            // So a server keeps no more of them in Redis than it may.
            for oldest in claims.add(claim, atMost: limit) {
                send(RedisRequest("DEL", .text(keys.loneReplay(oldest))))
            }
            return nil
        }
        guard let other = RedisClaim(found) else {
            // Nothing of it can be trusted.
            throw .unavailable("The claim of a request is damaged.")
        }
        return other
    }

    private func exchanging(_ former: RedisClaim, for claim: RedisClaim, now: Int64) -> RedisRequest {
        var request = RedisRequest()
        request.needsReplicas = true
        request.call(
            .exchange, keys.loneReplay(claim.replay.id), .bytes(former.bytes), .bytes(claim.bytes),
            .text(String(max(1, claim.replay.endsAt - now))))
        return request
    }
}

/// What Redis keeps of a request that names no session.
struct RedisClaim: Sendable, Equatable {
    let replay: LoneReplay
    /// Whether the session is known to have been made.
    var isDone = false

    private enum Kind {
        static let (claimed, made, response): (UInt8, UInt8, UInt8) = (1, 2, 3)
    }

    var bytes: [UInt8] {
        var text = StateWriter(reservingCapacity: 96)
        text.add(RedisFields.plain)
        switch replay.content {
        case .session: text.add(isDone ? Kind.made : Kind.claimed)
        case .response: text.add(Kind.response)
        }
        for digest in [replay.id, replay.fingerprint] { digest.bytes.withUnsafeBytes { text.add(raw: $0) } }
        text.add(difference: replay.endsAt)
        switch replay.content {
        case .session(let id): text.add(id.description)
        case .response(let response): text.add(response)
        }
        return RedisFields.checked(text)
    }
}

extension RedisClaim {
    /// As it is in Redis; `nil` when it is damaged.
    init?(_ bytes: [UInt8]) {
        let read = RedisFields.read(bytes) { _, text -> RedisClaim? in
            let kind = try text.byte()
            guard let id = ShortDigest(bytes: try text.raw(ShortDigest.byteCount)),
                let fingerprint = ShortDigest(bytes: try text.raw(ShortDigest.byteCount))
            else { return nil }
            let endsAt = try text.difference()
            let content: LoneReplay.Content
            switch kind {
            case Kind.claimed, Kind.made:
                guard let session = SessionID(try text.text()) else { return nil }
                content = .session(session)
            case Kind.response: content = .response(try text.bytes())
            default: return nil
            }
            let replay = LoneReplay(id: id, fingerprint: fingerprint, endsAt: endsAt, content: content)
            return RedisClaim(replay: replay, isDone: kind != Kind.claimed)
        }
        guard let read else { return nil }
        self = read
    }
}

/// The claims that this process has put into Redis, so that callers without a session cannot fill it.
final class RedisClaims: Sendable {
    private struct State {
        var claims: [(id: ShortDigest, keys: Int)] = []
        /// Where `claims` begins; the part before it is removed now and then.
        var oldest = 0
        /// How many keys they count for.
        var keys = 0
    }

    private let state = Mutex(State())

    /// - Returns: those that have to go.
    func add(_ claim: RedisClaim, atMost limit: Int) -> [ShortDigest] {
        state.withLock { state in
            state.claims.append((claim.replay.id, claim.replay.content.keys))
            state.keys += claim.replay.content.keys
            let first = state.oldest
            while state.keys > limit, state.oldest < state.claims.count - 1 {
                state.keys -= state.claims[state.oldest].keys
                state.oldest += 1
            }
            let gone = state.claims[first..<state.oldest].map(\.id)
            if state.oldest * 2 >= state.claims.count {
                state.claims.removeFirst(state.oldest)
                state.oldest = 0
            }
            return gone
        }
    }
}
