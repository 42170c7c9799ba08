/// Which sessions a store is to end because their time is over. Times are steady time, in milliseconds.
package struct ExpiryQuery: Sendable {
    package let now: Int64
    /// As it is today: sessions may have been written when it was another.
    package let idleTimeout: Int64
    /// At most so many sessions are looked at.
    package let limit: Int
    /// Sessions of which memory knows more than the store: these are left alone. Quick, and may be asked on any thread.
    package let isInUse: @Sendable (SessionID) -> Bool

    package init(now: Int64, idleTimeout: Int64, limit: Int, isInUse: @escaping @Sendable (SessionID) -> Bool) {
        self.now = now
        self.idleTimeout = idleTimeout
        self.limit = limit
        self.isInUse = isInUse
    }

    func deadline(of session: StoredSession) -> Int64 {
        min(session.lastUsedAt + idleTimeout, session.record.expiresAt)
    }
}

/// What a store has ended.
package struct ExpiredSessions: Sendable {
    package let sessions: [StoredSession]
    /// How many; more than ``sessions`` where some could not be read any more.
    package let count: Int
    /// How many were looked at: as many as asked for when there may be more.
    package let looked: Int

    package init(sessions: [StoredSession], count: Int, looked: Int) {
        self.sessions = sessions
        self.count = count
        self.looked = looked
    }
}
