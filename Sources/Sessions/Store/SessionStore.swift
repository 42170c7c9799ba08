/// Where committed sessions live.
///
/// One rule above all: **when a commit returns it is durable, to the degree configured; before that nobody has seen
/// it.** Commits that arrive together may be written together. What needs no waiting returns without suspending.
///
/// All times are steady time (``SessionClock``). Which place in the ``ServiceCatalog`` has which name is known when the
/// process starts and may differ in the next: a store that outlives the process writes names.
///
/// `SessionStoreContract` in the tests says the rest; every store runs through it.
package protocol SessionStore: AnyObject, Sendable {
    /// Whether the sessions are still in it when the process has ended. A store in which they are not is never told of
    /// uses: as long as anybody can ask, memory knows them better.
    var outlivesProcess: Bool { get }

    /// What is wrong with it that others have to see to, in a sentence; nil when nothing is. As long as there is
    /// something, the server is not ready. A store that can mend itself tries to when it is asked.
    var trouble: String? { get }

    /// How many sessions there are, those whose time is over among them. At once, however many.
    var sessionCount: Int { get }

    /// Returns when everything that was asked before is done, and lets go of files and connections. What is asked
    /// later is refused.
    func close() async

    /// Adds a session that nobody knows yet.
    ///
    /// - Parameter done: as for ``commit(_:then:)``. ``StoreError/conflict`` when the id is taken, or too like another one
    ///   for the store.
    func create(_ session: StoredSession, then done: @escaping @Sendable (StoreError?) -> Void)

    /// The session as last committed; nil when there is none, or no longer.
    func load(_ id: SessionID) async throws(StoreError) -> StoredSession?

    /// Replaces the state of a session, if its revision still is the one that the commit was made from.
    ///
    /// A commit may come before the one that it was made from is done. The store does those of one session in their
    /// order, and refuses a commit that was made from a refused one. Revisions see to that as long as one process has the
    /// store. Where several share it, another process may have committed the revision of the refused one.
    ///
    /// - Parameter done: called once, with nil or the error: ``StoreError/conflict`` when the revision is another one,
    ///   ``StoreError/gone`` when the session ended. A store that has nothing to wait for calls it before this returns;
    ///   others call it later, on a thread of theirs, where it must take no time.
    func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void)

    /// Adds a session that comes from elsewhere, or puts it in the place of the one of its id: everything of that one
    /// goes. What was stored of an id before, and has ended, is no obstacle; but no entity tag is given twice: where there
    /// is none of its id, the store raises the session's ``SessionDetails/revisionFloor`` to the highest revision of all
    /// sessions that have ended in it, or higher.
    ///
    /// - Throws: ``StoreError/conflict`` when there is one and should not be, or its revision is another one,
    ///   ``StoreError/gone`` when there is none to be replaced.
    func receive(_ arrival: SessionArrival) async throws(StoreError)

    /// Notes when sessions were last used. Never moves a time backwards; skips sessions that are gone.
    func touch(_ uses: [SessionUse]) async throws(StoreError)

    /// Ends a session for good: no commit on its way can bring it back. Says whether there was one.
    func end(_ id: SessionID) async throws(StoreError) -> Bool

    /// Ends sessions whose time, and the time for which they are kept after that, is over.
    ///
    /// One call looks at some sessions and takes little time. The next one goes on behind those, round and round: called
    /// again and again, a store looks at each of its sessions.
    func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions

    /// Hands out tasks: those of that name whose time has come, the earliest first. Durable when it returns: no attempt is
    /// forgotten. Of two callers at once, each task goes to one.
    ///
    /// Tasks come and go with commits (``SessionCommit/tasks``), and go with their session, however that ends.
    func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims

    /// Changes a task.
    ///
    /// - Returns: the task as it is then; nil when there is none.
    func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask?

    /// Tasks with a ``StoredTask/overAt`` that has come, the earliest first.
    func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask]

    /// A part of the tasks, in the order of ids.
    func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask]

    /// The versions of flows that commits have said are in use, and nobody has taken back; nil when it cannot say.
    func usedFlows() async throws(StoreError) -> [UsedFlow]?

    /// From now on these are in use and no others, until a commit says so.
    func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError)

    /// The sessions to which a user is attached, in the order of their ids.
    func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession]

    /// At most `limit` sessions in the store's order of ids, those after `id` only. The order is the store's own, and does
    /// not change. A session that is there all the time is on exactly one page, whatever comes and goes meanwhile.
    func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage
}

extension SessionStore {
    package var outlivesProcess: Bool { true }
    package var trouble: String? { nil }
    package func usedFlows() async throws(StoreError) -> [UsedFlow]? { nil }
    package func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError) {}
    package func close() async {}

    /// The same, waiting.
    package func create(_ session: StoredSession) async throws(StoreError) {
        let error = await withUnsafeContinuation { waiting in create(session) { waiting.resume(returning: $0) } }
        if let error { throw error }
    }

    /// The same, waiting.
    package func commit(_ commit: SessionCommit) async throws(StoreError) {
        let error = await withUnsafeContinuation { waiting in self.commit(commit) { waiting.resume(returning: $0) } }
        if let error { throw error }
    }
}

/// A session as a store keeps it.
package struct StoredSession: Sendable {
    package let record: SessionRecord
    /// Apart from the record: it moves without a commit.
    package let lastUsedAt: Int64

    package init(record: SessionRecord, lastUsedAt: Int64) {
        self.record = record
        self.lastUsedAt = lastUsedAt
    }

    /// See ``SessionRecord/raisingRevisionFloor(to:)``.
    package func raisingRevisionFloor(to floor: UInt64) -> StoredSession {
        StoredSession(record: record.raisingRevisionFloor(to: floor), lastUsedAt: lastUsedAt)
    }
}

/// One step of a session from a revision to the next.
package struct SessionCommit: Sendable {
    package let record: SessionRecord
    /// The revision that the record was made from.
    package let replacedRevision: UInt64
    /// The services whose documents are new, changed or gone in the record; a store need not look at the others.
    package let changedServices: [UInt16]
    /// Whether the rest of the record, but for the revision, is as it was; a store need not look at that, either.
    package let changesServicesOnly: Bool
    /// Versions of flows that journeys of the session run and that the store may not have heard of.
    package var newFlows: [UsedFlow] = []
    /// Tasks of the session that begin or end with this commit.
    package var tasks: [TaskChange] = []
    /// When the session was last used: the store notes it as ``SessionStore/touch(_:)`` does, so that a session that is
    /// written to needs no other write for its uses.
    package var usedAt = Int64.min

    package init(
        record: SessionRecord, replacedRevision: UInt64, changedServices: [UInt16], changesServicesOnly: Bool = false
    ) {
        self.record = record
        self.replacedRevision = replacedRevision
        self.changedServices = changedServices
        self.changesServicesOnly = changesServicesOnly
    }
}

/// A session and when it was used.
package struct SessionUse: Sendable {
    package let id: SessionID
    package let usedAt: Int64

    package init(id: SessionID, usedAt: Int64) {
        self.id = id
        self.usedAt = usedAt
    }
}
