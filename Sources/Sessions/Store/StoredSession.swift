/// A session as a store keeps it.
package struct StoredSession: Sendable {
    package let record: SessionRecord
    /// Not a part of the record: it moves without a commit.
    package let lastUsedAt: Int64

    package init(record: SessionRecord, lastUsedAt: Int64) {
        self.record = record
        self.lastUsedAt = lastUsedAt
    }

    package var standing: SessionStanding { SessionStanding(revision: record.revision, lastUsedAt: lastUsedAt) }

    /// See ``SessionRecord/raisingRevisionFloor(to:)``.
    package func raisingRevisionFloor(to floor: UInt64) -> StoredSession {
        StoredSession(record: record.raisingRevisionFloor(to: floor), lastUsedAt: lastUsedAt)
    }
}

/// What another process may have changed in a session. See ``SessionStore/standing(of:)``.
package struct SessionStanding: Sendable, Equatable {
    package let revision: UInt64
    package let lastUsedAt: Int64

    package init(revision: UInt64, lastUsedAt: Int64) {
        self.revision = revision
        self.lastUsedAt = lastUsedAt
    }
}

/// A step of a session from one revision to the next.
package struct SessionCommit: Sendable {
    package let record: SessionRecord
    /// The revision that the record was made from.
    package let replacedRevision: UInt64
    /// The services whose documents are new, changed or removed in the record. A store need not look at the others.
    package let changedServices: [UInt16]
    /// Whether the rest of the record is unchanged, except the revision. Then a store need not look at it.
    package var changesServicesOnly = false
    /// Whether ``SessionRecord/times`` are others than before. If not, a store need not have those of the record.
    package var changesTimes = false
    /// Versions of flows that journeys of the session run and that the store may not know.
    package var newFlows: [UsedFlow] = []
    /// Tasks of the session that begin or end with this commit.
    package var tasks: [TaskChange] = []
    /// The response that the session keeps from this commit on.
    package var replays: ReplayChange?
    /// By how many bytes the record is larger than the one that it was made from (``SessionRecord/writtenBytes``).
    package var growth = 0
    /// When the session was last used. The store records it as ``SessionStore/touch(_:)`` does, so that a written
    /// session needs no other write for its uses.
    package var usedAt = Int64.min
}

/// A session whose due time has come.
package struct DueSession: Sendable, Equatable {
    package let id: SessionID
    package let dueAt: Int64

    package init(id: SessionID, dueAt: Int64) {
        self.id = id
        self.dueAt = dueAt
    }
}

/// A session and when it was used.
package struct SessionUse: Sendable {
    package let id: SessionID
    package let usedAt: Int64
}

/// A part of all sessions of a store, in the store's order.
package struct SessionPage: Sendable {
    /// An empty page need not be the last: ``next`` tells.
    package let sessions: [StoredSession]
    /// Where the next page begins, to be passed as `after`; `nil` on the last page. Greater than the `after` of this
    /// page in the store's order, so that reading pages ends.
    package let next: SessionID?
    /// Places of the store that could not be read and were skipped.
    package let skipped: Int

    package init(sessions: [StoredSession], next: SessionID?, skipped: Int = 0) {
        self.sessions = sessions
        self.next = next
        self.skipped = skipped
    }
}

/// A session from another installation, with any revision.
package struct SessionArrival: Sendable {
    package let session: StoredSession
    /// The revision of the session that it replaces as a whole; `nil` when no session of its id may exist.
    package let replacedRevision: UInt64?
    /// Versions of flows that its journeys run and that the store may not know.
    package var newFlows: [UsedFlow] = []
    /// Tasks that its journeys wait for. Those of a session whose place it takes are gone.
    package var tasks: [StoredTask] = []
}

/// A version of a flow that journeys run or have run.
package struct UsedFlow: Sendable, Hashable {
    package let flow: String
    package let version: Int
    /// The ids of its states, sorted, each followed by a blank. A version should never change; this shows if one did.
    package let states: String

    package init(flow: String, version: Int, states: String) {
        self.flow = flow
        self.version = version
        self.states = states
    }
}

/// What all sessions of a store hold, in bytes. See ``SessionStore/documentBytes``.
package struct DocumentBytes: Sendable, Equatable {
    package let stored: Int
    package let allowed: Int

    package init(stored: Int, allowed: Int) {
        self.stored = stored
        self.allowed = allowed
    }
}

extension StoreError {
    /// There are as many bytes as there may be.
    package static func full(of bytes: DocumentBytes) -> StoreError {
        .full("All sessions together have \(bytes.stored) of \(bytes.allowed) bytes (limits.total_bytes).")
    }
}
