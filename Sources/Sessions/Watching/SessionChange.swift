import Synchronization

/// A change of a session that watchers are told of.
package enum SessionChange: Sendable, Equatable {
    case serviceChanged(name: String, etag: ServiceETag)
    case serviceCleared(name: String, etag: ServiceETag)
    /// When one commit removes several, and when a session ends, the newest instance comes first.
    case serviceRemoved(name: String)
    /// The journey made a step, possibly its first; it may still show the same screen.
    case journeyMoved(id: String, step: UInt64)
    case journeyFinished(id: String, step: UInt64)
    case journeyExpired(id: String, step: UInt64)
    /// The journey was given up, or made room for another one, and no longer exists.
    case journeyAbandoned(id: String)
    /// A journey waits for a task of that name.
    case taskStarted(journey: String, name: String)
    case taskEnded(journey: String, name: String)
    /// The session was used, and expires later. No commit makes this.
    case extended(idleExpiresAt: Int64)
    case ended(SessionEnd)
}

extension SessionChange {
    /// The service that it is about.
    package var service: String? {
        switch self {
        case .serviceChanged(let name, _), .serviceCleared(let name, _), .serviceRemoved(let name): name
        case .journeyMoved, .journeyFinished, .journeyExpired, .journeyAbandoned, .taskStarted, .taskEnded, .extended,
            .ended:
            nil
        }
    }

    /// The journey that it is about, if the journey still exists.
    package var shownJourney: String? {
        switch self {
        case .journeyMoved(let id, _), .journeyFinished(let id, _), .journeyExpired(let id, _): id
        case .taskStarted(let id, _), .taskEnded(let id, _): id
        case .serviceChanged, .serviceCleared, .serviceRemoved, .journeyAbandoned, .extended, .ended: nil
        }
    }
}

/// Why a session ended.
///
/// The values are what clients and back ends are told.
package enum SessionEnd: String, Sendable {
    /// A caller ended it.
    case requested
    case expired
    /// A token was used after it had been replaced.
    case tokenReused = "token_reused"
    /// A new session needed its place.
    case displaced
    /// Its user has signed in to a newer one, and has no more at once.
    case userLimit = "user_limit"
    /// Everything of its user was erased.
    case erased
    /// Another process ended it, and knows why.
    case elsewhere
}

/// What one commit changed in a session, for those that watch the session. Immutable; all watchers share it.
package final class WatchedCommit: Sendable {
    /// The session's revision after the commit.
    package let revision: UInt64
    package let changes: [SessionChange]
    /// What clients are shown of the journeys among the changes; a journey is missing when that is not known.
    package let journeyTags: [String: ServiceETag]
    /// Whether the revision is that of an earlier commit: the session was used, or has ended.
    package let isLater: Bool
    private let text = Mutex<[UInt8]?>(nil)

    init(revision: UInt64, changes: [SessionChange], journeyTags: [String: ServiceETag] = [:], isLater: Bool = false) {
        self.revision = revision
        self.changes = changes
        self.journeyTags = journeyTags
        self.isLater = isLater
    }

    /// The text that `write` makes of it. It is made once for all watchers.
    package func text(_ write: (WatchedCommit) -> [UInt8]) -> [UInt8] {
        text.withLock { text in
            if let text { return text }
            let new = write(self)
            text = new
            return new
        }
    }
}

/// Why a session is no longer watched.
package enum WatchEnd: Sendable, Equatable {
    /// The session ended. The last commit says why.
    case sessionEnded
    /// The token that opened the watch was replaced.
    case tokenReplaced
    /// The server stops.
    case stopping
    /// There are changes that watchers were not told of.
    case gap
    /// There are too many watchers: it made room for a newer one.
    case displaced
}

/// Why a session cannot be watched.
package enum WatchError: Error, Sendable, Equatable {
    /// The commits after the resume point are not all in memory.
    case resumePointGone
    case stopping
}

extension PendingState {
    /// What watchers are told: the last change of each service, writes first in their order, then removals, newest
    /// first, and the changes of journeys last.
    func sessionChanges(_ environment: SessionEnvironment) -> [SessionChange] {
        var told: [SessionChange] = []
        var removed: [Change] = []
        for (position, change) in changes.enumerated() where change.kind != .created {
            let isLast = !changes[(position + 1)...].contains { $0.service == change.service && $0.kind != .created }
            guard isLast else { continue }
            let service = catalog[change.service]
            guard service.isDeclared else { continue }
            switch change.kind {
            case .written: told.append(.serviceChanged(name: service.name, etag: etag(of: service)))
            case .cleared: told.append(.serviceCleared(name: service.name, etag: etag(of: service)))
            case .removed: removed.append(change)
            case .created: break
            }
        }
        return told
            + removed.sorted { $0.birth > $1.birth }
            .map { .serviceRemoved(name: catalog[$0.service].name) }
            + journeyChanges(environment)
    }

    /// How the journeys differ from before: one change of each at most, and the task that each waits for.
    private func journeyChanges(_ environment: SessionEnvironment) -> [SessionChange] {
        guard let coordinator = try? definitions.coordinator,
            changes.contains(where: { $0.service == coordinator.index })
        else { return [] }
        let former = Self.journeys(base.document(of: coordinator.index)?.bytes, knownBy: memory)
        let current = Self.journeys(document(of: coordinator)?.bytes, knownBy: newMemory)
        var told: [SessionChange] = []
        for journey in former.journeys where current[journey.id] == nil {
            if let task = journey.task { told.append(.taskEnded(journey: journey.id, name: task.name)) }
            told.append(.journeyAbandoned(id: journey.id))
        }
        for entry in current.entries {
            let (journey, before) = (entry.journey, former[entry.journey.id]?.journey)
            let hasMoved = before?.step != journey.step || before?.status != journey.status
            switch journey.status {
            case _ where !hasMoved: break
            case .active: told.append(.journeyMoved(id: journey.id, step: journey.step))
            case .finished: told.append(.journeyFinished(id: journey.id, step: journey.step))
            case .expired: told.append(.journeyExpired(id: journey.id, step: journey.step))
            }
            guard before?.task?.number != journey.task?.number else { continue }
            if let task = before?.task { told.append(.taskEnded(journey: journey.id, name: task.name)) }
            if let task = journey.task { told.append(.taskStarted(journey: journey.id, name: task.name)) }
        }
        return told
    }

    private static func journeys(_ bytes: [UInt8]?, knownBy memory: JourneyMemory?) -> KeptJourneys {
        guard let bytes else { return KeptJourneys() }
        return memory?.journeys(keptAs: bytes) ?? (try? KeptJourneys(reading: bytes)) ?? KeptJourneys()
    }
}
