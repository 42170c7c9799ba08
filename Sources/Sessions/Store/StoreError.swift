/// Why a store did not do what it was asked. The texts are for the log.
package enum StoreError: Error, Sendable {
    /// Somebody else committed first.
    case conflict
    /// The session ended, or never was.
    case gone
    /// The store cannot be reached, or does not answer in time.
    case unavailable(String)
    /// There is no room to write. Reading goes on.
    case full(String)
}
