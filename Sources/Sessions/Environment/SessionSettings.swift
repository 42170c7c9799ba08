import JSONDocument
import Navigation

/// The limits and times of sessions. Times are in milliseconds.
package struct SessionSettings: Sendable {
    /// A session that is not used for this time expires.
    package var idleTimeout: Int64 = 30 * 60 * 1_000
    /// A session expires this long after it was created, used or not.
    package var lifetime: Int64 = 12 * 60 * 60 * 1_000
    /// The most that a back end may choose for a session (``ChosenTimes``).
    package var longestIdleTimeout: Int64 {
        get { max(chosenLongestIdleTimeout, idleTimeout) }
        set { chosenLongestIdleTimeout = newValue }
    }
    /// The same.
    package var longestLifetime: Int64 {
        get { max(chosenLongestLifetime, lifetime) }
        set { chosenLongestLifetime = newValue }
    }
    private var chosenLongestIdleTimeout: Int64 = 0
    private var chosenLongestLifetime: Int64 = 0
    /// The store is told at most this often that a session is in use.
    package var touchInterval: Int64 {
        get { chosenTouchInterval ?? Self.touchInterval(forIdleTimeout: idleTimeout) }
        set { chosenTouchInterval = newValue }
    }
    private var chosenTouchInterval: Int64?
    /// By how much uses of a session that other processes know of may be later than those that the store knows of.
    var useLag: Int64 = 0
    /// How long a store that outlives the process keeps an expired session. The session is refused at once, but a wrong
    /// clock may be corrected.
    package var expiredRetention: Int64 = 60 * 60 * 1_000
    /// How long a session outlives its token, at most, for work that a journey waits for, counted from the journey's
    /// last step. A flow with `lives` says so itself.
    package var caseLifetime: Int64 = 30 * 24 * 60 * 60 * 1_000
    /// After that time a task is given up for which no journey waits and whose flow says nothing else.
    package var longestTask: Int64 { max(caseLifetime, lifetime) }
    /// The name of the tasks by which back ends are told of sessions (``SessionNotice``); nil when they are not.
    package var noticeTask: String?
    /// How long a replaced token works, for requests that are on their way.
    package var rotationGrace: Int64 = 30_000
    /// Whether a session's cookie proves that the browser has it from this server: no page, and no other host, can set
    /// one with the prefix `__Host-` (RFC 6265 bis, section 4.1.3.2).
    package var cookiesAreProof = true
    /// How many sessions may exist, in memory or not. It bounds the store.
    package var maxSessions = 1_000_000
    /// How many bytes the sessions in memory take when the store keeps them anyway (``Session/footprint``).
    package var maxResidentBytes = 1_073_741_824
    /// How many sessions a user may be attached to.
    package var maxSessionsOfUser = 100
    /// Whether the oldest sessions of a user end when there are more; otherwise the user is attached to no further one.
    package var endsOldestOfUser = true
    /// In bytes: the states of all services of a session together. It bounds the memory of a session.
    package var maxSessionSize = 4_194_304
    package var maxLabels = 32
    /// In bytes of UTF-8, like the next. Labels are for lists, not for content.
    package var maxLabelName = 64
    package var maxLabelValue = 256
    /// In bytes of UTF-8. Long enough for the identifiers of identity providers.
    package var maxUserID = 256
    /// How often a unit of work that lost against another runs again before it fails.
    package var maxConflictRetries = 8
    /// In bytes, serialised: the state of a service. It bounds the size of a session, and the work of a request.
    package var maxDocumentSize = 65_536
    /// The same for all journeys of a session together.
    var maxJourneysSize: Int { 16 * maxDocumentSize }

    func maxSize(of service: RegisteredService) -> Int {
        service.isKeptOtherwise ? maxJourneysSize : maxDocumentSize
    }
    /// How many units of work of a session wait for their turn or for the store. More mean that a client floods it.
    package var maxWaitingWriters = 1_024

    /// Whether watching a session is a use of it.
    package var watchingExtends = false
    package var watchers = WatcherLimits()

    package init() {}

    /// The default: a twentieth, so that reads rarely write and a killed process forgets little compared to the
    /// timeout; at most an hour.
    package static func touchInterval(forIdleTimeout timeout: Int64) -> Int64 { min(timeout / 20, 3_600_000) }
}

/// How many clients may watch at the same time; each keeps a connection open. At a limit the oldest watcher of the
/// address that has most makes room for a new one, so one address cannot take the others' places.
package struct WatcherLimits: Sendable, Equatable {
    /// Of all sessions.
    package var all = 12_288
    /// From one address, for IPv6 from one /64.
    package var ofAddress = 1_024
    /// Of one session. A commit wakes all of them.
    package var ofSession = 32

    package init() {}
}

/// What journeys run by, handed to ``Sessions`` at start.
package struct JourneySettings: Sendable {
    package let engine: FlowEngine
    /// The flow of the journey ``mainID``, which is started when it is first asked for; nil when it has to be started.
    package let mainFlow: String?
    /// How many journeys a session keeps, those that are over among them; bounds what one session can take.
    package let maxJourneys: Int
    /// How a problem is shown that keeps a result of a task from being taken.
    package let problem: @Sendable (any Error) -> JSONDocument

    /// The journey that every session can have without asking for an id.
    package static let mainID = "main"

    package init(
        engine: FlowEngine = FlowEngine(catalog: .empty), mainFlow: String? = nil, maxJourneys: Int = 16,
        problem: @escaping @Sendable (any Error) -> JSONDocument = { ["detail": JSONDocument("\($0)")] }
    ) {
        self.engine = engine
        self.mainFlow = mainFlow
        self.maxJourneys = maxJourneys
        self.problem = problem
    }
}
