/// The limits and times of sessions. Times are in milliseconds.
package struct SessionSettings: Sendable {
    /// A session that nobody uses for so long expires.
    package var idleTimeout: Int64 = 30 * 60 * 1_000
    /// A session expires so long after it was made, used or not.
    package var lifetime: Int64 = 12 * 60 * 60 * 1_000
    /// The store is told at most so often that a session is in use.
    package var touchInterval: Int64 {
        get { chosenTouchInterval ?? Self.touchInterval(forIdleTimeout: idleTimeout) }
        set { chosenTouchInterval = newValue }
    }
    private var chosenTouchInterval: Int64?
    /// So long a store that outlives the process keeps what has expired. It is refused at once; but a clock that is wrong
    /// may be set right.
    package var expiredRetention: Int64 = 60 * 60 * 1_000
    /// So long a token that was replaced still works, for requests that are on their way.
    package var rotationGrace: Int64 = 30_000
    /// How many sessions there may be, in memory or not; bounds what they can take.
    package var maxSessions = 1_000_000
    /// How many sessions stay in memory where the store keeps them anyway; bounds the memory.
    package var maxResidentSessions = 200_000
    package var maxLabels = 32
    /// In bytes of UTF-8, like the next. Labels are for looking at in lists, not for content.
    package var maxLabelName = 64
    package var maxLabelValue = 256
    /// In bytes of UTF-8. Long enough for the identifiers that identity providers hand out.
    package var maxUserID = 256
    /// How often a unit of work that lost against another runs again before it gives up.
    package var maxConflictRetries = 8
    /// In bytes, as serialised; bounds what one session can take.
    package var maxDocumentSize = 1_048_576
    /// How many units of work of one session wait for their turn or for the store. More mean that a client floods it.
    package var maxWaitingWriters = 1_024

    package init() {}

    /// Unless another is set: a twentieth, so that reads seldom write, and what is forgotten by a process that is killed
    /// is little beside the timeout; an hour at most.
    package static func touchInterval(forIdleTimeout timeout: Int64) -> Int64 { min(timeout / 20, 3_600_000) }
}
