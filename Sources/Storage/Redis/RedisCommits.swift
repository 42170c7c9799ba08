import Sessions
import Synchronization

/// Commits on their way, in their order for each session.
///
/// Each commit has a nonce, which the session keeps until the next one. A commit whose predecessor is on its way needs
/// the predecessor's nonce to be there: if that was refused, another server may have committed its revision. When the
/// connection is lost, the nonce in the session tells which commits were executed; the others are sent once more.
final class RedisCommits: Sendable {
    struct Commit: Sendable {
        let id: SessionID
        /// `nil` when no session may exist.
        let replaced: UInt64?
        let revision: UInt64
        /// The commands, with the nonce that is needed (or "") and its own. The last one is the script.
        let request: @Sendable (_ needed: String, _ nonce: String) -> RedisRequest
        /// Adds the session to indexes once more, when Redis may have had no memory for that and then enough for the
        /// script.
        let index: @Sendable () -> RedisRequest
        /// Called when it was executed, with the script's reply if there was one. What it returns has to be done as
        /// well before the commit is.
        let executed: @Sendable (RedisReply?) -> RedisRequest
        let done: @Sendable (StoreError?) -> Void
    }

    private enum Stage {
        /// Not sent yet, or refused because a predecessor was on its way elsewhere.
        case held
        case sent
        case lost
        case finished(StoreError?)
    }

    private struct Entry {
        let commit: Commit
        let nonce: String
        let request: RedisRequest
        var stage = Stage.held
        var isRepeated = false

        /// Neither finished nor on a connection.
        var isOpen: Bool { if case .lost = stage { true } else { isHeld } }
        var isHeld: Bool { if case .held = stage { true } else { false } }
        var isSent: Bool { if case .sent = stage { true } else { false } }
    }

    private struct Chain {
        var entries: [Entry] = []
        /// Of commits on their way or refused, since commits that were made from these may still come: until the
        /// session is loaded.
        var past: [(revision: UInt64, nonce: String)] = []
        /// Whether nothing is sent until all that was sent has an outcome, and it is known what was executed.
        var isHeld = false
        /// Whether it is being asked what was executed.
        var isAsking = false
        var isDelivering = false
        /// Whether it is counted in `kept`.
        var isKept = false
        var isIdle: Bool { entries.isEmpty && !isDelivering }
    }

    private struct State {
        var chains: [SessionID: Chain] = [:]
        var next: UInt64 = 0
        /// How many chains are kept without commits.
        var kept = 0
    }

    private let state = Mutex(State())
    private let router: RedisRouter
    private let keys: RedisKeys
    private let origin: String

    /// - Parameter origin: tells this process from others.
    init(_ router: RedisRouter, _ keys: RedisKeys, origin: String) {
        self.router = router
        self.keys = keys
        self.origin = origin
    }

    func append(_ commit: Commit) {
        state.withLock { state in
            state.next += 1
            let nonce = "\(origin)-\(state.next)"
            var chain = state.chains[commit.id] ?? Chain()
            if chain.isKept { state.kept -= 1 }
            chain.isKept = false
            let needed = chain.past.last { $0.revision == commit.replaced }?.nonce ?? ""
            var entry = Entry(commit: commit, nonce: nonce, request: commit.request(needed, nonce))
            if !chain.isHeld { send(&entry) }
            chain.entries.append(entry)
            // Only the last of a revision is asked for.
            chain.past.removeAll { $0.revision == commit.revision }
            chain.past.append((commit.revision, nonce))
            state.chains[commit.id] = chain
        }
        deliver(commit.id)
    }

    /// The session is read anew, so its next commit is made from what is there.
    func forget(_ id: SessionID) {
        state.withLock { state in
            guard let chain = state.chains[id], chain.isIdle else { return }
            state.chains[id] = nil
            if chain.isKept { state.kept -= 1 }
        }
    }

    /// Under the lock.
    private func send(_ entry: inout Entry) {
        let (id, nonce) = (entry.commit.id, entry.nonce)
        entry.isRepeated = if case .lost = entry.stage { true } else { false }
        let refusal = router.append(entry.request, isBounded: !entry.isRepeated) { self.take($0, id, nonce) }
        entry.stage = refusal.map { .finished(.unavailable($0)) } ?? .sent
    }

    // MARK: On threads of connections

    private func take(_ outcome: RedisConnection.Outcome, _ id: SessionID, _ nonce: String) {
        switch outcome {
        case .replies(let replies):
            // Without an entry in an index the script is not sent.
            var reply = replies.last ?? .none
            if case .none = reply { reply = replies.first { $0.error != nil } ?? .none }
            guard var failure = Self.failure(reply) else {
                return follow(id, nonce, reply, isIndexed: replies.allSatisfy { $0.error == nil })
            }
            if case .conflict = failure, isRepeated(id, nonce) {
                // Its first copy may have come after the question and before the second.
                if isExecuted(id, nonce, by: reply[1].text) { return follow(id, nonce, nil) }
                failure = .unavailable(Self.unconfirmed)
            }
            let isEarly = change(id, nonce) { chain, entry in
                // A predecessor may be sent again, or be on its way to another node.
                let isEarly = chain.isHeld || chain.entries.prefix { $0.nonce != nonce }.contains(where: \.isSent)
                if isEarly {
                    entry.stage = .held
                    chain.isHeld = true
                } else if reply[1].text?.hasPrefix(origin) == true {
                    // No other server has committed what this process has.
                    chain.past.removeAll { $0.nonce == nonce }
                }
                return isEarly
            }
            if isEarly == true { settle(id) } else { finish(id, nonce, failure) }
        case .failed(let sentence): finish(id, nonce, .unavailable(sentence))
        case .lost:
            _ = change(id, nonce) { chain, entry in
                entry.stage = .lost
                chain.isHeld = true
            }
            settle(id)
        }
    }

    /// When nothing of a chain that is held is on its way, asks what was executed, or sends the rest if that is known.
    private func settle(_ id: SessionID) {
        let asks = state.withLock { state in
            guard var chain = state.chains[id], chain.isHeld, !chain.isAsking,
                !chain.entries.contains(where: \.isSent)
            else { return false }
            chain.isAsking = chain.entries.contains { if case .lost = $0.stage { true } else { false } }
            if !chain.isAsking {
                chain.isHeld = false
                for place in chain.entries.indices where chain.entries[place].isHeld { send(&chain.entries[place]) }
            }
            state.chains[id] = chain
            return chain.isAsking
        }
        guard asks else { return deliver(id) }
        var question = RedisRequest()
        question.call(.confirm, keys.session(id))
        // What was executed counts when replicas have it.
        question.needsReplicas = true
        if let refusal = router.append(question, isBounded: false, then: { self.resolve(id, $0) }) {
            resolve(id, .failed(refusal))
        }
    }

    private func isRepeated(_ id: SessionID, _ nonce: String) -> Bool {
        return change(id, nonce) { _, entry in entry.isRepeated } ?? false
    }

    /// Whether a commit was executed when the session has that nonce: its own, or that of one that needed it.
    private func isExecuted(_ id: SessionID, _ nonce: String, by found: String?) -> Bool {
        state.withLock { state in
            guard let entries = state.chains[id]?.entries, let last = entries.lastIndex(where: { $0.nonce == found })
            else { return false }
            return entries[...last].contains { $0.nonce == nonce }
        }
    }

    private static func failure(_ reply: RedisReply) -> StoreError? {
        if let error = reply.error { return StoreError(redis: error) }
        return switch reply[0].number {
        case 1: nil
        case 0: .gone
        default: .conflict
        }
    }

    private func follow(_ id: SessionID, _ nonce: String, _ reply: RedisReply?, isIndexed: Bool = false) {
        let commit = state.withLock { state in state.chains[id]?.entries.first { $0.nonce == nonce }?.commit }
        var request = commit?.executed(reply) ?? RedisRequest()
        if !isIndexed, let commit { request.add(commit.index()) }
        guard request.count > 0 else { return finish(id, nonce, nil) }
        let refusal = router.append(request, isBounded: false) { outcome in
            switch outcome {
            case .replies(let replies):
                self.finish(id, nonce, replies.lazy.compactMap(\.error).first.map(StoreError.init(redis:)))
            case .lost(let sentence), .failed(let sentence): self.finish(id, nonce, .unavailable(sentence))
            }
        }
        if let refusal { finish(id, nonce, .unavailable(refusal)) }
    }

    /// Decides about commits that were sent and have no reply.
    private func resolve(_ id: SessionID, _ outcome: RedisConnection.Outcome) {
        var found: (revision: UInt64?, nonce: String?)?
        if case .replies(let replies) = outcome, let reply = replies.first, reply.error == nil {
            found = (reply[0].text.flatMap(UInt64.init), reply[1].text)
        }
        let executed = state.withLock { state -> [String] in
            guard var chain = state.chains[id] else { return [] }
            (chain.isHeld, chain.isAsking) = (false, false)
            var executed: [String] = []
            let last = chain.entries.lastIndex { $0.nonce == found?.nonce }
            var isUnchanged = last != nil
            for place in chain.entries.indices where chain.entries[place].isOpen {
                if let last, place <= last {
                    chain.entries[place].stage = .sent
                    executed.append(chain.entries[place].nonce)
                    continue
                }
                // The first that was not executed, if nobody else has changed the session.
                if executed.isEmpty, !isUnchanged, let found {
                    isUnchanged = found.revision == chain.entries[place].commit.replaced
                }
                let entry = chain.entries[place]
                if entry.isHeld || (isUnchanged && !entry.isRepeated) {
                    send(&chain.entries[place])
                } else {
                    let isGone = found != nil && found?.revision == nil && entry.commit.replaced != nil
                    chain.entries[place].stage = .finished(
                        isGone ? .gone : .unavailable(Self.unconfirmed))
                }
            }
            state.chains[id] = chain
            return executed
        }
        for nonce in executed { follow(id, nonce, nil) }
        deliver(id)
    }

    private func finish(_ id: SessionID, _ nonce: String, _ failure: StoreError?) {
        _ = change(id, nonce) { _, entry in entry.stage = .finished(failure) }
        settle(id)
        deliver(id)
    }

    private func change<Result: Sendable>(
        _ id: SessionID, _ nonce: String, _ body: (inout Chain, inout Entry) -> Result
    ) -> Result? {
        state.withLock { state in
            guard var chain = state.chains[id], let place = chain.entries.firstIndex(where: { $0.nonce == nonce })
            else { return nil }
            var entry = chain.entries[place]
            let result = body(&chain, &entry)
            chain.entries[place] = entry
            state.chains[id] = chain
            return result
        }
    }

    /// Calls back the first ones, as long as they are finished.
    private func deliver(_ id: SessionID) {
        var isFirst = true
        while true {
            let next = state.withLock { state -> (@Sendable () -> Void)? in
                guard var chain = state.chains[id], !(isFirst && chain.isDelivering) else { return nil }
                chain.isDelivering = false
                guard let entry = chain.entries.first, case .finished(let failure) = entry.stage else {
                    keep(chain, id, &state)
                    return nil
                }
                chain.entries.removeFirst()
                if failure == nil { chain.past.removeAll { $0.revision <= entry.commit.revision } }
                chain.isDelivering = true
                state.chains[id] = chain
                return { entry.commit.done(failure) }
            }
            guard let next else { return }
            isFirst = false
            next()
        }
    }

    private func keep(_ chain: Chain, _ id: SessionID, _ state: inout State) {
        var chain = chain
        let mayGo = chain.isIdle && chain.past.isEmpty
        if chain.isIdle, !mayGo, !chain.isKept {
            chain.isKept = true
            state.kept += 1
        }
        state.chains[id] = mayGo ? nil : chain
        guard state.kept > Self.mostKept else { return }
        state.chains = state.chains.filter { !$0.value.isIdle }
        state.kept = 0
    }

    private static let mostKept = 10_000
    private static let unconfirmed = "The connection to Redis was lost before it confirmed a commit."
}
