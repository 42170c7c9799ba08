/// When a write is on the disk: what a power cut may take back. The end of the process alone takes nothing back under
/// any policy.
package enum Durability: Sendable, Equatable {
    /// Before the response.
    case commit
    /// At most this long after the response.
    case interval(Duration)
    /// When the operating system writes it, or a checkpoint copies the log to the database.
    case none

    /// The setting of the connection that writes (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
    var setting: String {
        switch self {
        // A commit syncs the log before it returns.
        case .commit: "PRAGMA synchronous = FULL"
        // A checkpoint still syncs the log before it writes to the database, and the database before the log restarts.
        // So a power cut takes the last commits, never the database.
        case .interval, .none: "PRAGMA synchronous = NORMAL"
        }
    }
}
