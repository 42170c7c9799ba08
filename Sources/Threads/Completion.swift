import Synchronization

/// Something that happens once, and that tasks wait for.
package final class Completion: Sendable {
    private let state = Mutex<(isReached: Bool, waiting: [UnsafeContinuation<Void, Never>])>((false, []))

    package init() {}

    package func reach() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for waiting in waiting { waiting.resume() }
    }

    package func wait() async {
        await withUnsafeContinuation { waiting in
            let isReached = state.withLock { state in
                if !state.isReached { state.waiting.append(waiting) }
                return state.isReached
            }
            if isReached { waiting.resume() }
        }
    }
}
