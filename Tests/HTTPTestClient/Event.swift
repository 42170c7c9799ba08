import Synchronization

/// Something that happens once: tests wait for it instead of sleeping.
package final class Event: Sendable {
    private struct State {
        var hasHappened = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var hasHappened: Bool { state.withLock(\.hasHappened) }

    package func happen() {
        let waiting = state.withLock { state in
            state.hasHappened = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once it has happened, whether or not the task is cancelled.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasHappened { state.waiting.append(continuation) }
                return state.hasHappened
            }
            if isOver { continuation.resume() }
        }
    }

    /// Waits until the task is cancelled.
    package static func cancellation() async {
        let event = Event()
        await withTaskCancellationHandler {
            await event.wait()
        } onCancel: {
            event.happen()
        }
    }
}
