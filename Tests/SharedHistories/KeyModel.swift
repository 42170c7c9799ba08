import Sessions
import Synchronization

/// What may become of requests with an idempotency key: each is executed once, whatever fails, and all copies get its
/// response.
final class KeyModel: Sendable {
    private struct State {
        /// By key.
        var responses: [Int: Set<String>] = [:]
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

    /// A copy of a request got a response.
    func responded(_ key: Int, _ response: String) {
        state.withLock { state in
            state.responses[key, default: []].insert(response)
            let all = state.responses[key, default: []]
            if all.count > 1 { violations.add("key \(key) was answered with \(all.sorted())") }
        }
    }

    /// Compares with what the store has in the end.
    ///
    /// - Parameter executed: the key of each execution of a unit of work, and the key of each session that was made.
    func finish(executed: [Int]) {
        let counts = executed.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        state.withLock { state in
            for (key, count) in counts where count > 1 { violations.add("key \(key) was executed \(count) times") }
            for key in state.responses.keys where counts[key] == nil { violations.add("key \(key) was not executed") }
        }
    }
}
