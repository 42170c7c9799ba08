/// Which expired sessions a store must end. Times are steady time, in milliseconds.
package struct ExpiryQuery: Sendable {
    package let now: Int64
    /// The current setting: sessions may have been written under another one.
    package let idleTimeout: Int64
    /// How long an expired session stays in the store.
    package let retention: Int64
    /// How many sessions are looked at, at most.
    package let limit: Int
    /// Whether memory knows more about the session than the store; such sessions are left alone. It is quick, and any
    /// thread may call it.
    package let isInUse: @Sendable (SessionID) -> Bool
    /// Which sessions may end for new ones; `nil` when no session has to.
    package var unused: Unused?

    /// Sessions that were created at least `age` ago and neither written nor used since.
    package struct Unused: Sendable {
        package let age: Int64
        /// By how much a session's absolute expiry is later than its creation. Sessions of another setting stay.
        package let lifetime: Int64

        package init(age: Int64, lifetime: Int64) {
            self.age = age
            self.lifetime = lifetime
        }
    }

    package init(
        now: Int64, idleTimeout: Int64, retention: Int64, limit: Int, isInUse: @escaping @Sendable (SessionID) -> Bool
    ) {
        self.now = now
        self.idleTimeout = idleTimeout
        self.retention = retention
        self.limit = limit
        self.isInUse = isInUse
    }

    /// Whether the session is one of ``unused``.
    package func isUnused(revision: Int64, lastUsedAt: Int64, expiresAt: Int64) -> Bool {
        guard let unused, revision == 1 else { return false }
        return lastUsedAt + unused.lifetime == expiresAt && lastUsedAt + unused.age <= now
    }

    /// When the session may be ended.
    package func end(of session: StoredSession) -> Int64 {
        min(session.lastUsedAt + idleTimeout, session.record.expiresAt) + retention
    }
}

/// The result of an ``ExpiryQuery``.
package struct ExpiredSessions: Sendable {
    /// How many sessions were ended.
    package let count: Int
    /// How many sessions were looked at. Fewer than requested at the store's last session.
    package let looked: Int
    /// ``ExpiryQuery/unused`` sessions among them that memory does not have. A store whose sessions other processes may
    /// be using names none.
    package let unused: [SessionID]

    package init(count: Int, looked: Int, unused: [SessionID] = []) {
        self.count = count
        self.looked = looked
        self.unused = unused
    }
}
