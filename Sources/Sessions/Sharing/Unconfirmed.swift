/// Thrown in place of the result of a unit of work that has no commit, when the session was only remembered
/// (``Sessions/remembered(_:)``): other processes may have changed it. Nothing was done, so the caller looks the
/// session up and begins again.
package struct Unconfirmed: Error {
    package init() {}
}
