import Sessions
import Synchronization

/// A clock that stands still until a test moves it. Who sleeps by it wakes when it has been moved far enough.
package final class SteeredClock: SessionClock {
    private struct Sleeper {
        let id: Int
        let until: Int64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now: Int64 = 1_700_000_000_000
        var sleepers: [Sleeper] = []
        var nextID = 0
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    package init() {}

    package func now() -> Int64 { state.withLock(\.now) }
    /// How often anyone has slept.
    package var sleepCount: Int { state.withLock(\.nextID) }
    package func wall(at steady: Int64) -> Int64 { steady }

    package func advance(_ duration: Duration) {
        let milliseconds = duration.milliseconds
        let woken = state.withLock { state in
            state.now += milliseconds
            let woken = state.sleepers.filter { $0.until <= state.now }
            state.sleepers.removeAll { $0.until <= state.now }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// How long a sleeper of a busy machine may take to come back.
    private static let patience = Duration.seconds(10)

    /// Lets the time run, a second at a time, until `body` has returned.
    ///
    /// - Parameter limit: seconds, after which the time runs slowly: on a busy machine it may have run ahead of those
    ///   that have not slept yet.
    package func running<Value>(
        atMost limit: Int = .max, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let ticking = Task {
            var (usual, latest) = (1, ContinuousClock.now + Self.patience)
            var left = limit
            while !Task.isCancelled {
                // Those that sleep a second at a time have seen the last one, unless some have gone for good.
                let asleep = state.withLock(\.sleepers.count)
                if asleep >= usual || .now > latest {
                    (usual, latest) = (max(asleep, 1), .now + Self.patience)
                    if left == 0 {
                        try? await Task.sleep(for: .seconds(5))
                    } else {
                        left -= 1
                    }
                    if asleep > 0 { advance(.seconds(1)) }
                }
                await Task.yield()
            }
        }
        defer { ticking.cancel() }
        return try await body()
    }

    package func sleep(milliseconds: Int64) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.cancelled.remove(id) == nil, milliseconds > 0 else { return true }
                    state.sleepers.append(
                        Sleeper(id: id, until: state.now + milliseconds, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let place = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: place)
            }
            sleeper?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
