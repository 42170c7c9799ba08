import Sessions
import Synchronization

/// What may be shown of the journey of one session, and of its tasks.
///
/// Each step is taken from a known one, so two answers never have the same step before them.
final class JourneyModel: Sendable {
    private struct State {
        var floor: UInt64 = 0
        /// By the step before them.
        var taken: [UInt64: UInt64] = [:]
        var claims: Set<String> = []
        /// When that was answered.
        var ended: [String: ContinuousClock.Instant] = [:]
        var unknownEnds: Set<String> = []
        var over: Set<String> = []
    }

    private let state = Mutex(State())
    private let name: String
    private let violations: Violations

    init(_ name: String, _ violations: Violations) {
        self.name = name
        self.violations = violations
    }

    func begin() -> UInt64 { state.withLock(\.floor) }

    func saw(_ step: UInt64, since floor: UInt64) {
        state.withLock { state in
            if step < floor { complain("step \(step) was shown after \(floor)") }
            state.floor = max(state.floor, step)
        }
    }

    func took(_ step: UInt64, from former: UInt64, since floor: UInt64) {
        state.withLock { state in
            if step <= floor { complain("step \(step) was taken after \(floor)") }
            if let other = state.taken[former] { complain("steps \(other) and \(step) were taken from \(former)") }
            state.taken[former] = step
            state.floor = max(state.floor, step)
        }
    }

    /// - Parameter start: when the claim began.
    func claimed(_ task: TaskID, attempt: Int, since start: ContinuousClock.Instant) {
        state.withLock { state in
            if !state.claims.insert("\(task) \(attempt)").inserted { complain("\(task) \(attempt) was claimed twice") }
            if let end = state.ended["\(task)"], end < start { complain("\(task) was claimed after its result") }
        }
    }

    func ended(_ task: TaskID) {
        state.withLock { state in
            if state.ended.updateValue(.now, forKey: "\(task)") != nil { complain("\(task) has two results") }
        }
    }

    func unknownEnd(_ task: TaskID) { state.withLock { _ = $0.unknownEnds.insert("\(task)") } }

    /// Its result was refused because it has one.
    func wasOver(_ task: TaskID) { state.withLock { _ = $0.over.insert("\(task)") } }

    func finish() {
        state.withLock { state in
            for task in state.over.subtracting(state.ended.keys).subtracting(state.unknownEnds) {
                complain("\(task) was over without a result")
            }
        }
    }

    private func complain(_ sentence: String) { violations.add("\(name): \(sentence)") }
}

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
