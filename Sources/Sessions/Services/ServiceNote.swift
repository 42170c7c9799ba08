import Glibc

/// What the code of a service has done that the log should say.
package enum ServiceNote: Sendable {
    /// It took long: other sessions of the same worker waited for it. CPU time of the thread.
    case slow(service: String, command: String, Duration)
    /// A hook has failed that stops nothing.
    case failed(service: String, hook: String, reason: String)

    /// Longer than any command or hook should take in the session's turn.
    static let limit = Duration.milliseconds(100)

    /// The CPU time of this thread.
    static var clock: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
