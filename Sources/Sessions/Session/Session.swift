import Synchronization

/// A session in memory. Each file `Session+subject.swift` of this folder has a part of what it can do, and no other
/// file does.
///
/// There are up to a million of these, so each member costs a million times its size.
package final class Session: Sendable {
    let environment: SessionEnvironment
    /// Guards short reads and changes. No thread waits for the store under it: see ``Pipeline``.
    let state: Mutex<State>

    struct State {
        /// The last committed state.
        var record: SessionRecord
        /// The time of the last use.
        var lastUsedAt: Int64
        /// Instances that were read and never written.
        var unwritten: [ServiceDocument] = []
        /// The parsed journeys; `nil` in all but some thousands of sessions.
        var memory: JourneyMemory?
        /// `nil` while no unit of work waits or is being committed.
        var pipeline: Pipeline?
        /// Milliseconds of use that the store was not told of.
        var unsavedUse: UInt32 = 0
        /// Whether a unit of work, or an end, has the turn.
        var isWriting = false
        var stage = Stage.open
        private var flags = Flags()
        /// See ``SessionEnvironment/generation``, when the record was read. It fits beside the others.
        var generation: UInt8

        init(record: SessionRecord, lastUsedAt: Int64, generation: UInt8) {
            self.record = record
            self.lastUsedAt = lastUsedAt
            self.generation = generation
        }

        /// Whether the process keeps a history of commits for those that watch the session.
        var isWatched: Bool {
            get { flags.contains(.watched) }
            set { if newValue { flags.insert(.watched) } else { flags.remove(.watched) } }
        }

        /// Whether somebody has shown the session's token to this process.
        var isUsed: Bool {
            get { flags.contains(.used) }
            set { if newValue { flags.insert(.used) } else { flags.remove(.used) } }
        }

        /// Whether it has expired and stays for its work (``Session/Expiry/kept``).
        var isKept: Bool {
            get { flags.contains(.kept) }
            set { if newValue { flags.insert(.kept) } else { flags.remove(.kept) } }
        }
    }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let watched = Flags(rawValue: 1)
        static let used = Flags(rawValue: 2)
        static let kept = Flags(rawValue: 4)
    }

    enum Stage: UInt8 {
        case open
        /// It must end, and the store could not be told yet: no token is accepted, and the caller is not told that it
        /// has ended.
        case held
        /// No token is accepted and nothing changes any more.
        case ended
    }

    /// - Parameter generation: of the environment, before the session was read.
    init(_ stored: StoredSession, environment: SessionEnvironment, generation: UInt8) {
        self.environment = environment
        state = Mutex(State(record: stored.record, lastUsedAt: stored.lastUsedAt, generation: generation))
        let catalog = environment.definitions.catalog
        for document in stored.record.services { catalog[document.service].countLive(1) }
        environment.countBytes(stored.record.writtenBytes + Self.footprint)
    }

    /// The bytes that a session takes in memory besides what callers have written into it
    /// (``SessionRecord/writtenBytes``): about as many as were measured with one service.
    package static let footprint = 600

    /// The session's id, and the user who is attached to it.
    package var identity: (id: SessionID, userID: String?) { state.withLock { ($0.record.id, $0.record.userID) } }

    /// The user who is attached to it.
    package var userID: String? { state.withLock { $0.record.userID } }

    package var id: SessionID { state.withLock { $0.record.id } }

    /// Like ``summary()``, but also for an ended session.
    var stored: StoredSession {
        state.withLock { StoredSession(record: $0.record, lastUsedAt: $0.lastUsedAt) }
    }
}

extension Session.State {
    var isEnded: Bool { stage == .ended }
}
