/// When what was answered is on the disk: what a power cut may take back. What ends the process alone takes nothing,
/// whatever the policy.
package enum Durability: Sendable, Equatable {
    /// Before the answer.
    case commit
    /// At most so long after the answer.
    case interval(Duration)
    /// When the operating system gets to it, or the log is written back to the file.
    case none
}

extension Durability {
    /// What the writer's connection is told.
    var setting: String {
        switch self {
        // Syncs the log before a commit returns (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
        case .commit: "PRAGMA synchronous = FULL"
        // Checkpoints still sync the log before they write to the file, and the file before the log begins anew: a power
        // cut takes the last commits, never the database.
        case .interval, .none: "PRAGMA synchronous = NORMAL"
        }
    }
}
