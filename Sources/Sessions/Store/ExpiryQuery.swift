/// Which sessions a store is to end because their time is over. Times are steady time, in milliseconds.
package struct ExpiryQuery: Sendable {
    package let now: Int64
    /// As it is today: sessions may have been written when it was another.
    package let idleTimeout: Int64
    /// A session stays in the store for so long after its time is over.
    package let retention: Int64
    /// At most so many sessions are looked at.
    package let limit: Int
    /// Sessions of which memory knows more than the store: these are left alone. Quick, and may be asked on any thread.
    package let isInUse: @Sendable (SessionID) -> Bool

    package init(
        now: Int64, idleTimeout: Int64, retention: Int64, limit: Int, isInUse: @escaping @Sendable (SessionID) -> Bool
    ) {
        self.now = now
        self.idleTimeout = idleTimeout
        self.retention = retention
        self.limit = limit
        self.isInUse = isInUse
    }

    /// When a session may be ended.
    package func end(of session: StoredSession) -> Int64 {
        min(session.lastUsedAt + idleTimeout, session.record.expiresAt) + retention
    }
}

/// What a store has done with an ``ExpiryQuery``.
package struct ExpiredSessions: Sendable {
    /// How many it has ended.
    package let count: Int
    /// How many it has looked at. Fewer than asked for when it has come to its last session.
    package let looked: Int

    package init(count: Int, looked: Int) {
        self.count = count
        self.looked = looked
    }
}
