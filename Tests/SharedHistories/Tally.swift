import Synchronization

/// Counts operations, and lets a caller wait for a number of them.
final class Tally: Sendable {
    private struct State {
        /// Those that were answered, and those whose outcome is unknown.
        var answered = 0
        var unknown = 0
        var writes = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var hasGivenUp = false
        /// What each client is doing, and since when.
        var current: [Int: (name: String, since: ContinuousClock.Instant)] = [:]
    }

    private let state = Mutex(State())
    let limit: Int
    /// No operation takes so long: it waits for Redis a few times at the most, and for its turn among all the tests that
    /// run at the same time.
    private static let patience = Duration.seconds(120)

    init(limit: Int) { self.limit = limit }

    var answered: Int { state.withLock(\.answered) }
    var unknown: Int { state.withLock(\.unknown) }
    var isOver: Bool { state.withLock { isOver($0) } }

    var hasGivenUp: Bool { state.withLock(\.hasGivenUp) }

    /// No more operations are wanted.
    func giveUp() {
        let waiting = state.withLock { state in
            state.hasGivenUp = true
            return exchange(&state.waiting, with: [])
        }
        for waiting in waiting { waiting.continuation.resume() }
    }

    private func isOver(_ state: borrowing State) -> Bool { state.hasGivenUp || state.answered >= limit }

    /// A new number of a write.
    var nextWrite: Int {
        state.withLock { state in
            state.writes += 1
            return state.writes
        }
    }

    func begin(_ name: String, of client: Int) { state.withLock { $0.current[client] = (name, .now) } }

    /// The client has done all that it wanted.
    func end(_ client: Int) { state.withLock { $0.current[client] = nil } }

    /// What is not answered.
    var stuck: [String] {
        state.withLock { state in
            let end = ContinuousClock.now - Self.patience
            return state.current.values.filter { $0.since < end }.map(\.name)
        }
    }

    func count(isAnswered: Bool) {
        let due = state.withLock { state in
            if isAnswered { state.answered += 1 } else { state.unknown += 1 }
            // When no more are wanted, there is nothing to wait for.
            let total = isOver(state) ? .max : state.answered + state.unknown
            guard state.waiting.contains(where: { $0.count <= total }) else { return [Waiting]() }
            defer { state.waiting.removeAll { $0.count <= total } }
            return state.waiting.filter { $0.count <= total }
        }
        for waiting in due { waiting.continuation.resume() }
    }

    private typealias Waiting = (count: Int, continuation: CheckedContinuation<Void, Never>)

    /// Waits for so many more, answered or not, or until no more are wanted.
    func wait(forMore count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if self.isOver(state) { return true }
                state.waiting.append((state.answered + state.unknown + count, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

/// What no order of the operations explains, in sentences.
final class Violations: Sendable {
    private let sentences = Mutex<[String]>([])

    func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }

    var all: [String] { sentences.withLock(\.self) }
}
