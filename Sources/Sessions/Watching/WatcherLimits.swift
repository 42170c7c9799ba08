/// How many clients may watch at the same time; each keeps a connection open. At a limit the oldest watcher of the
/// address that has most makes room for a new one, so one address cannot take the others' places.
package struct WatcherLimits: Sendable, Equatable {
    /// Of all sessions.
    package var all = 12_288
    /// From one address, for IPv6 from one /64.
    package var ofAddress = 1_024
    /// Of one session. A commit wakes all of them.
    package var ofSession = 32

    package init() {}
}
