/// Keeps the responses to requests with an idempotency key. Those of a session come with its commits
/// (``SessionCommit/replays``) and go with it, however it ends.
///
/// `SessionStoreContract` in the tests says the rest; every store runs through it.
package protocol ReplayStore: AnyObject, Sendable {
    /// The sealed response that a session keeps; `nil` when there is none.
    func response(_ id: ShortDigest, of session: SessionID) async throws(StoreError) -> [UInt8]?

    /// Adds a session as ``SessionStore/create(_:then:)`` does, unless a request of that id has made one.
    ///
    /// - Parameter done: gets what the other request has left, or `nil` when the session was created now. The session
    ///   of the other request exists, or has ended. As for ``SessionStore/create(_:then:)`` it is called once.
    func create(
        _ session: StoredSession, once: OnceCreated,
        then done: @escaping @Sendable (Result<LoneReplay?, StoreError>) -> Void)

    /// What was kept of a request that names no session; `nil` when there is nothing, or its time is over.
    func loneReplay(_ id: ShortDigest, now: Int64) async throws(StoreError) -> LoneReplay?

    /// Keeps it, unless there is one of its id whose time is not over.
    ///
    /// - Parameter limit: the most keys that all of them count for; beyond that the oldest go, never this one.
    /// - Returns: the other one.
    func keep(_ replay: LoneReplay, now: Int64, atMost limit: Int) async throws(StoreError) -> LoneReplay?
}
