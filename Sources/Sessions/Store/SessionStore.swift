/// Keeps committed sessions.
///
/// The most important rule: **when a commit has completed it is durable to the configured degree; before that no client
/// has seen it.** Commits that arrive together may be written together. A method that need not wait returns without
/// suspending.
///
/// All times are steady time (``SessionClock``). The indices of the ``ServiceCatalog`` may differ in the next process,
/// so a store that outlives the process writes names.
///
/// `SessionStoreContract` in the tests has the other rules; every store runs through it.
package protocol SessionStore: AnyObject, Sendable {
    /// Whether the sessions are still there after the process has ended. A store without them is not told of uses,
    /// because memory knows them better.
    var outlivesProcess: Bool { get }

    /// Whether other processes may change the sessions at the same time. Before such a process shows a session that it
    /// has in memory, it asks for its ``standing(of:)``.
    var isShared: Bool { get }

    /// Grows when what was read before may be contradicted, as by a server of the store that takes the place of another
    /// one and has not all of its commits. A session in memory that was read before is read as a whole, since its
    /// revision alone tells nothing then. Always 0 for a store that is not shared.
    var generation: Int { get }

    /// A sentence about a problem that others must solve; `nil` when there is none. While there is a problem, the
    /// server is not ready. A store that can recover tries to when this is read.
    var trouble: String? { get }

    /// Why the store cannot be used until a configuration is changed; `nil` when it can, or may work again by itself.
    var refusal: String? { get }

    /// How many sessions exist, including expired ones. It does not wait.
    var sessionCount: Int { get }

    /// The bytes of all sessions (``SessionRecord/writtenBytes``), and their limit; `nil` when the store has no limit.
    /// It does not wait. At the limit a commit, a new session or an import that would take more room gets
    /// ``StoreError/full(_:)``; everything else goes on.
    var documentBytes: DocumentBytes? { get }

    /// The responses to requests with an idempotency key.
    var replays: any ReplayStore { get }

    /// Returns when everything that was requested before is done, and closes files and connections. Later requests are
    /// refused.
    func close() async

    /// Adds a session that no client knows yet.
    ///
    /// - Parameters:
    ///   - notice: is added with it.
    ///   - done: as for ``commit(_:then:)``. ``StoreError/conflict`` when the id is taken, or the store cannot
    ///     distinguish it from another one.
    func create(
        _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void)

    /// The session as last committed; `nil` when there is none.
    func load(_ id: SessionID) async throws(StoreError) -> StoredSession?

    /// Where a session stands, which is quicker to ask than the whole session; `nil` when there is none. It is not
    /// older than any commit that completed, in whatever process, before this was called.
    func standing(of id: SessionID) async throws(StoreError) -> SessionStanding?

    /// The same, calling back on a thread of the store, where it must take no time.
    func standing(of id: SessionID, then done: @escaping @Sendable (Result<SessionStanding?, StoreError>) -> Void)

    /// Calls `changed` when a process, this one or another, has committed to a session or ended it, until
    /// ``unfollow(_:)``. Nothing need have changed, for example when the connection to the store was lost meanwhile.
    /// The call comes on a thread of the store, where it must take no time. A store that is not shared never calls.
    func follow(_ id: SessionID, _ changed: @escaping @Sendable () -> Void)

    /// See ``follow(_:_:)``.
    func unfollow(_ id: SessionID)

    /// Replaces the state of a session, if its revision is still the one that the commit was made from.
    ///
    /// A commit may arrive before its predecessor is done, unless the store is shared. The store executes the commits
    /// of a session in their order, and refuses a commit whose predecessor it refused, which the revisions ensure. If
    /// several processes share the store, another one may have committed the revision of the refused commit.
    ///
    /// - Parameter done: called once, with nil or the error: ``StoreError/conflict`` or ``StoreError/overtaken(_:)``
    ///   when the revision is another one, ``StoreError/gone`` when the session ended. A store that has nothing to wait
    ///   for calls it before this returns; others call it later, on a thread of theirs, where it must take no time.
    func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void)

    /// Adds an imported session, or replaces the whole session of its id. An ended session of the id is no obstacle,
    /// but no entity tag may be issued twice: if there is no session of the id, the store raises
    /// ``SessionDetails/revisionFloor`` at least to the highest revision of all sessions that have ended in it. It may
    /// raise the session's revision to the floor.
    ///
    /// - Throws: ``StoreError/conflict`` when a session exists and should not, or has another revision;
    ///   ``StoreError/gone`` when there is none to replace.
    func receive(_ arrival: SessionArrival) async throws(StoreError)

    /// Records when sessions were last used. Never moves a time backwards; skips sessions that do not exist or are
    /// damaged.
    func touch(_ uses: [SessionUse]) async throws(StoreError)

    /// Ends a session for good: no commit in progress can bring it back. Returns whether it existed.
    ///
    /// - Parameters:
    ///   - standing: it must still be as this says; nil when it ends in any case. A store of one process need not look
    ///     at it.
    ///   - notice: is added if the session existed.
    /// - Throws: ``StoreError/conflict`` when it is not.
    func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool

    /// Lets no other process commit to the session for a moment, until this process has committed to it: for a commit
    /// that must not keep losing. It can fail to; then the commit may lose again.
    func reserve(_ id: SessionID) async throws(StoreError)

    /// Gives up what ``reserve(_:)`` has reserved: no commit comes. Waits for nothing.
    func release(_ id: SessionID)

    /// Ends sessions whose retention after expiry is over.
    ///
    /// One call looks at some sessions and takes little time. The next call continues after them, round and round, so
    /// that repeated calls look at every session.
    func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions

    /// Hands out tasks: those of that name whose time has come, the earliest first. Durable when it returns: no attempt
    /// is forgotten. Of two callers at once, each task goes to one.
    ///
    /// Tasks come and go with commits (``SessionCommit/tasks``), and go with their session, however that ends. Notices
    /// stay (``SessionNotice``).
    func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims

    /// Changes a task.
    ///
    /// - Returns: the task as it is then; nil when there is none.
    func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask?

    /// Sessions whose ``SessionTimes/dueAt`` has come, the earliest first. Of stores that processes share, one of them
    /// is told of a session for some seconds.
    func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession]

    /// Has a session handed out again at another time, `.max` for never, unless its due time has changed.
    func putOff(_ due: DueSession, to time: Int64) async throws(StoreError)

    /// Tasks whose last attempt is over (``StoredTask/overAt``), the earliest first.
    func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask]

    /// A part of the tasks, in the order of ids.
    func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask]

    /// The versions of flows that commits have reported, less those that were taken back; `nil` when the store cannot
    /// tell.
    func usedFlows() async throws(StoreError) -> [UsedFlow]?

    /// Replaces the versions that are in use, until further commits report others.
    func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError)

    /// The sessions of a user, in the order of their ids, for lists and to choose among: a store that would have to
    /// read them leaves out all documents but that of ``UserService``.
    func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession]

    /// Those that ``sessions(ofUser:)`` leaves out because they cannot be read.
    func damagedSessions(ofUser userID: String) async throws(StoreError) -> [SessionID]

    /// At most `limit` sessions after `id`, in an order of ids that the store chooses and does not change. A session
    /// that exists all the time is on exactly one page, whatever is added or removed meanwhile.
    func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage
}

extension SessionStore {
    package var outlivesProcess: Bool { true }
    package var isShared: Bool { false }
    package var generation: Int { 0 }
    package func reserve(_ id: SessionID) async throws(StoreError) {}
    package func release(_ id: SessionID) {}
    package var trouble: String? { nil }
    package var refusal: String? { nil }
    package var documentBytes: DocumentBytes? { nil }
    package func usedFlows() async throws(StoreError) -> [UsedFlow]? { nil }
    package func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError) {}
    package func close() async {}
    package func damagedSessions(ofUser userID: String) async throws(StoreError) -> [SessionID] { [] }
    package func follow(_ id: SessionID, _ changed: @escaping @Sendable () -> Void) {}
    package func unfollow(_ id: SessionID) {}

    package func standing(of id: SessionID) async throws(StoreError) -> SessionStanding? {
        try await load(id)?.standing
    }

    package func standing(
        of id: SessionID, then done: @escaping @Sendable (Result<SessionStanding?, StoreError>) -> Void
    ) {
        Task {
            do throws(StoreError) { done(.success(try await standing(of: id))) } catch { done(.failure(error)) }
        }
    }

    /// Ends it, and tells nobody.
    package func end(_ id: SessionID, as standing: SessionStanding? = nil) async throws(StoreError) -> Bool {
        try await end(id, as: standing, telling: nil)
    }

    /// Adds a session, and tells nobody.
    package func create(_ session: StoredSession, then done: @escaping @Sendable (StoreError?) -> Void) {
        create(session, telling: nil, then: done)
    }

    /// The same, waiting.
    package func create(_ session: StoredSession, telling notice: StoredTask? = nil) async throws(StoreError) {
        let error = await withUnsafeContinuation { waiting in
            create(session, telling: notice) { waiting.resume(returning: $0) }
        }
        if let error { throw error }
    }

    /// The same, waiting.
    package func commit(_ commit: SessionCommit) async throws(StoreError) {
        let error = await withUnsafeContinuation { waiting in self.commit(commit) { waiting.resume(returning: $0) } }
        if let error { throw error }
    }
}

/// A store that has nothing to wait for.
package protocol PromptStore: SessionStore {
    /// Does what ``SessionStore/commit(_:then:)`` does.
    ///
    /// - Returns: nil when it is committed.
    func commit(_ commit: SessionCommit) -> StoreError?
}

/// Why a store operation failed. The texts are for the log.
package enum StoreError: Error, Sendable {
    /// Another caller committed first.
    case conflict
    /// The same, and the session as the other caller has left it, which the store had at hand: nil when it cannot be
    /// read. Reading it takes time.
    case overtaken(@Sendable () -> StoredSession?)
    /// The session ended, or never existed.
    case gone
    /// The store cannot be reached or read, or does not respond in time.
    case unavailable(String)
    /// What is stored is damaged. It is neither shown nor changed, and it does not count as missing.
    case damaged(String)
    /// There is no space to write. Reading continues to work.
    case full(String)
}
