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
    /// What the writer's connection is told on top of `SQLiteStore.writerSettings`.
    var settings: [String] {
        switch self {
        case .commit: []
        case .interval, .none:
            [
                // No sync at a commit. Checkpoints still sync the log before they write to the file, and the file before
                // the log begins anew: a power cut takes the last commits, never the database
                // (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
                "PRAGMA synchronous = NORMAL",
                // SQLite says nothing of an automatic checkpoint that failed, and a sync that failed within it would
                // make the next one succeed without what was lost: so checkpoints are the writer's to do.
                "PRAGMA wal_autocheckpoint = 0",
            ]
        }
    }

    /// So many pages of log are written back: at 4 KiB about 16 MiB.
    static let pagesBeforeCheckpoint = 4_096
}
