/// The time of sessions, in milliseconds. Passed in, so that tests can move it.
///
/// Everything is decided and recorded in *steady* time: milliseconds since 1970 as they would be, had the wall clock
/// never been set since the process started. Setting the wall clock therefore expires nothing early and keeps nothing
/// alive. What is shown to people is derived from it with ``wall(at:)``.
package protocol SessionClock: AnyObject, Sendable {
    /// Now, in steady time.
    func now() -> Int64

    /// A steady time as the wall clock calls it today. The same argument gives the same answer unless the wall clock
    /// was set in between.
    func wall(at steady: Int64) -> Int64

    /// Waits, at most until the task is cancelled.
    func sleep(milliseconds: Int64) async throws
}
