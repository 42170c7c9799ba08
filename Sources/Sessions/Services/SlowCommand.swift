import Glibc

/// A command that took long: other sessions of the same worker waited for it.
package struct SlowCommand: Sendable {
    package typealias Note = @Sendable (SlowCommand) -> Void

    /// Longer than any command should take in the session's turn.
    static let limit = Duration.milliseconds(100)

    package let service: String
    package let command: String
    /// CPU time of the thread.
    package let duration: Duration

    /// The CPU time of this thread.
    static var clock: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
