/// When a write is on the disk: what a power cut may take back. The end of the process alone takes nothing back under
/// any policy.
package enum Durability: Sendable, Equatable {
    /// Before the response.
    case commit
    /// At most this long after the response.
    case interval(Duration)
    /// When the operating system writes it, or a checkpoint copies the log to the database.
    case none
}
