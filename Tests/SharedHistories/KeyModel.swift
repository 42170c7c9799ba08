import Synchronization

/// What may become of requests with an idempotency key.
final class KeyModel: Sendable {
    private struct State {
        /// By key: where it was executed.
        var executed: [Int: [ObjectIdentifier]] = [:]
        /// Servers that have ended, and may have left no note of what they had executed.
        var dead: Set<ObjectIdentifier> = []
        var replays: [Int: Set<String>] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private let violations: Violations

    init(_ violations: Violations) { self.violations = violations }

    /// A key that several requests have at about the same time.
    func key(reaching back: Int) -> Int {
        state.withLock { state in
            state.next += 1
            return max(0, state.next / 8 - back)
        }
    }

    /// Returns the response.
    func execute(_ key: Int, at server: ObjectIdentifier) -> String {
        state.withLock { state in
            state.executed[key, default: []].append(server)
            return "\(key) \(state.executed[key]?.count ?? 0)"
        }
    }

    func replayed(_ key: Int, _ response: String) {
        state.withLock { _ = $0.replays[key, default: []].insert(response) }
    }

    func ended(_ server: ObjectIdentifier) { state.withLock { _ = $0.dead.insert(server) } }

    func finish() {
        state.withLock { state in
            for (key, servers) in state.executed where state.dead.isDisjoint(with: servers) {
                if servers.count > 1 { violations.add("key \(key) was executed \(servers.count) times") }
                let responses = state.replays[key, default: []]
                if responses.count > 1 { violations.add("key \(key) was answered with \(responses.sorted())") }
            }
        }
    }
}
