import Synchronization

/// Holds up the first who comes until it is opened, and says when somebody has come: tests wait for it instead of
/// sleeping. Others pass, so that a test of what lets only one through fails and does not hang when two get there.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var hasVisitor = false
        var visitor: CheckedContinuation<Void, Never>?
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func pass() async {
        await withCheckedContinuation { continuation in
            let released: [CheckedContinuation<Void, Never>] = state.withLock { state in
                if state.isOpen || state.hasVisitor { return [continuation] }
                state.hasVisitor = true
                state.visitor = continuation
                defer { state.watchers = [] }
                return state.watchers
            }
            for continuation in released { continuation.resume() }
        }
    }

    /// Returns once somebody has come.
    func visit() async {
        await withCheckedContinuation { continuation in
            let hasVisitor = state.withLock { state in
                if !state.hasVisitor { state.watchers.append(continuation) }
                return state.hasVisitor
            }
            if hasVisitor { continuation.resume() }
        }
    }

    func open() {
        let visitor = state.withLock { state in
            state.isOpen = true
            defer { state.visitor = nil }
            return state.visitor
        }
        visitor?.resume()
    }
}
