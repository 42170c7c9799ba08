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
package enum SessionEnd: Sendable, Equatable {
    /// A caller ended it.
    case requested
    case expired
    /// A token was used after it had been replaced.
    case tokenReused
    /// Another process ended it, and knows why.
    case elsewhere
}
