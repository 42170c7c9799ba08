import Sessions
import Storage
import Synchronization

/// What Redis keeps of a request that names no session: id, fingerprint, its end, and the session or the response.
struct RedisClaim: Sendable, Equatable {
    let id: ShortDigest
    let fingerprint: ShortDigest
    let endsAt: Int64
    let content: LoneReplay.Content
    /// Whether the session is known to have been made.
    var isDone: Bool

    private enum Kind {
        static let (claimed, made, response): (UInt8, UInt8, UInt8) = (1, 2, 3)
    }

    init(_ replay: LoneReplay) {
        id = replay.id
        fingerprint = replay.fingerprint
        endsAt = replay.endsAt
        content = replay.content
        isDone = false
    }

    /// As it is in Redis; `nil` when it is damaged.
    init?(_ bytes: [UInt8]) {
        let read = RedisFields.read(bytes) { _, text -> RedisClaim? in
            let kind = try text.byte()
            guard let id = ShortDigest(bytes: try text.raw(ShortDigest.byteCount)),
                let fingerprint = ShortDigest(bytes: try text.raw(ShortDigest.byteCount))
            else { return nil }
            let endsAt = try text.difference()
            switch kind {
            case Kind.claimed, Kind.made:
                guard let session = SessionID(try text.text()) else { return nil }
                return RedisClaim(id, fingerprint, endsAt, .session(session), isDone: kind == Kind.made)
            case Kind.response:
                return RedisClaim(id, fingerprint, endsAt, .response(try text.bytes()), isDone: true)
            default: return nil
            }
        }
        guard let read else { return nil }
        self = read
    }

    private init(
        _ id: ShortDigest, _ fingerprint: ShortDigest, _ endsAt: Int64, _ content: LoneReplay.Content, isDone: Bool
    ) {
        self.id = id
        self.fingerprint = fingerprint
        self.endsAt = endsAt
        self.content = content
        self.isDone = isDone
    }

    var bytes: [UInt8] {
        var text = StateWriter(reservingCapacity: 96)
        text.add(RedisFields.plain)
        switch content {
        case .session: text.add(isDone ? Kind.made : Kind.claimed)
        case .response: text.add(Kind.response)
        }
        for digest in [id, fingerprint] { digest.bytes.withUnsafeBytes { text.add(raw: $0) } }
        text.add(difference: endsAt)
        switch content {
        case .session(let id): text.add(id.description)
        case .response(let response): text.add(response)
        }
        return RedisFields.checked(text)
    }

    /// Nil for that of another request, which cannot be.
    func loneReplay(_ id: ShortDigest) -> LoneReplay? {
        id == self.id ? LoneReplay(id: id, fingerprint: fingerprint, endsAt: endsAt, content: content) : nil
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
            state.claims.append((claim.id, claim.content.keys))
            state.keys += claim.content.keys
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
