import Synchronization

/// One client's stay, as it is in memory. Reading goes through ``view()``, writing through ``update(if:_:)`` and
/// ``perform(_:by:)-(ServiceOperation,_)``.
///
/// There are up to a million of these: a member more is paid a million times.
package final class Session: Sendable {
    let environment: SessionEnvironment
    /// Guards looks and changes that take no time. A store is never waited for under it: see ``Pipeline``.
    let state: Mutex<State>

    struct State {
        /// The last committed state.
        var record: SessionRecord
        /// When it was last used; moves with every use.
        var lastUsedAt: Int64
        /// Instances that were asked for and never written.
        var unwritten: [UnwrittenInstance] = []
        /// What looking at the journeys has brought out; nil in all but some thousands of sessions.
        var memory: JourneyMemory?
        /// Nil while no unit of work waits or is being committed.
        var pipeline: Pipeline?
        /// Milliseconds of use that the store was not told of.
        var unsavedUse: UInt32 = 0
        /// Whether a unit of work, or an end, has the turn.
        var isWriting = false
        var stage = Stage.open
    }

    enum Stage: UInt8 {
        case open
        /// It is to end, and the store could not be told yet: nobody gets in, and nobody is told that it has ended.
        case held
        /// No token opens it and nothing changes it any more.
        case ended
    }

    init(_ stored: StoredSession, environment: SessionEnvironment) {
        self.environment = environment
        state = Mutex(State(record: stored.record, lastUsedAt: stored.lastUsedAt))
        for document in stored.record.services { environment.catalog.services[Int(document.service)].countLive(1) }
        if !stored.record.services.isEmpty { environment.countJourneys(of: stored.record, 1) }
    }

    package var id: SessionID { state.withLock { $0.record.id } }

    /// Like what ``SessionView/summary`` tells, also when the session has ended.
    var stored: StoredSession {
        state.withLock { StoredSession(record: $0.record, lastUsedAt: $0.lastUsedAt) }
    }
}

extension Session.State {
    var isEnded: Bool { stage == .ended }

    /// When the session expires, unless it is used before.
    func deadline(_ settings: SessionSettings) -> Int64 {
        min(lastUsedAt + settings.idleTimeout, record.expiresAt)
    }
}
