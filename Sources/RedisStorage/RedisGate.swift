import Synchronization
import Threads

/// Counts the calls under way, so that a store closes after them, and refuses calls whose results could be wrong.
final class RedisGate: Sendable {
    /// Why results could be wrong.
    enum Obstacle: Sendable { case clock, loss }

    private struct State {
        var calls = 0
        var isClosed = false
        var obstacles: [Obstacle: String] = [:]
    }

    private let state = Mutex(State())
    private let end = Completion()

    /// - Returns: why the call is refused; nil when it may begin, and has to ``leave()``.
    func enter() -> String? {
        state.withLock { state in
            if state.isClosed { return "The store is closed." }
            if let obstacle = state.obstacles.values.first { return obstacle }
            state.calls += 1
            return nil
        }
    }

    /// Why all calls are refused, those under way as well; nil when they are not.
    var obstacle: String? { state.withLock(\.obstacles.values.first) }

    subscript(obstacle: Obstacle) -> String? {
        get { state.withLock { $0.obstacles[obstacle] } }
        set { state.withLock { $0.obstacles[obstacle] = newValue } }
    }

    func leave() {
        let isLast = state.withLock { state in
            state.calls -= 1
            return state.isClosed && state.calls == 0
        }
        if isLast { end.reach() }
    }

    /// Returns when all calls have left. Later ones are refused.
    func close() async {
        let isLast = state.withLock { state in
            state.isClosed = true
            return state.calls == 0
        }
        if isLast { end.reach() }
        await end.wait()
    }
}
