/// The time of sessions, in milliseconds. Passed in, so that tests can move it.
///
/// Everything is decided and stored in *steady* time: milliseconds since 1970 as if the wall clock had never been set
/// since the process started. So setting the wall clock neither ends a session early nor extends it. ``wall(at:)``
/// derives the times that people see.
package protocol SessionClock: AnyObject, Sendable {
    /// Now, in steady time.
    func now() -> Int64

    /// The wall time of a steady time. The same argument gives the same result unless the wall clock was set in
    /// between.
    func wall(at steady: Int64) -> Int64

    /// Steady time was wrong from the start, as other processes and the wall clock say: it goes on from this one.
    func correct(to steady: Int64)

    /// Waits, at most until the task is cancelled.
    func sleep(milliseconds: Int64) async throws
}

extension SessionClock {
    package func correct(to steady: Int64) {}
}
