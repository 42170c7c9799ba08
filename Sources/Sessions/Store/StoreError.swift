/// Why a store operation failed. The texts are for the log.
package enum StoreError: Error, Sendable {
    /// Another caller committed first.
    case conflict
    /// The same, and the session as the other caller has left it, which the store had at hand: nil when it cannot be
    /// read. Reading it takes time.
    case overtaken(@Sendable () -> StoredSession?)
    /// The session ended, or never existed.
    case gone
    /// The store cannot be reached or read, or does not respond in time.
    case unavailable(String)
    /// What is stored is damaged. It is neither shown nor changed, and it does not count as missing.
    case damaged(String)
    /// There is no space to write. Reading continues to work.
    case full(String)
}
