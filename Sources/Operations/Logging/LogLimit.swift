import Synchronization

/// Lets one line a second through, and counts the others: for what fails in every request as long as it lasts.
final class LogLimit: Sendable {
    private struct State {
        /// In nanoseconds of the monotonic clock.
        var next: UInt64 = 0
        var leftOut = 0
    }

    private let state = Mutex(State())

    private static let interval: UInt64 = 1_000_000_000

    /// - Parameter time: in nanoseconds of the monotonic clock.
    /// - Returns: how many lines were left out before this one; nil when it is left out as well.
    func admit(at time: UInt64) -> Int? {
        state.withLock { state in
            guard time >= state.next else {
                state.leftOut += 1
                return nil
            }
            state.next = time + Self.interval
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
