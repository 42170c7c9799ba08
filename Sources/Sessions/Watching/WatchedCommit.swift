import Synchronization

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
