import Synchronization

/// All sessions of a process: creates them, finds them by their tokens, ends them. What else they can do is in the
/// files of this folder, as for ``Session``.
///
/// ```swift
/// let sessions = Sessions(catalog: try ServiceCatalog(), store: MemoryStore())
/// let (session, token) = try await sessions.create()
/// let profile = try sessions.catalog.service(named: "profile")
/// try await session.perform([ServiceOperation(.mergePatch(["name": "Ada"]), on: profile)])
/// let same = try await sessions.authenticate(PresentedToken(token.text))
/// ```
///
/// There is no global instance: pass it to the code that needs it. Some task must run ``run()``, which removes expired
/// sessions.
package final class Sessions: Sendable {
    let environment: SessionEnvironment
    let registry: SessionRegistry
    let createdCount = Atomic<Int>(0)
    let endedCount = Atomic<Int>(0)
    /// Sessions that ended for new ones.
    let shedCount = Atomic<Int>(0)
    /// Sessions that ended because a replaced token was used.
    let stolenCount = Atomic<Int>(0)
    /// Expired sessions that stay in the store for their work: those of this round through it, and of the last one.
    let keptSeen = Atomic<Int>(0)
    let keptStored = Atomic<Int>(0)
    /// Sessions whose due time has come and that were looked at.
    let dueCount = Atomic<Int>(0)
    /// By how many milliseconds the oldest of them was late when it was found last.
    let dueLag = Atomic<Int64>(0)
    /// Expired sessions that have left memory, and that back ends are to be told of at once.
    let unnoticed = Mutex<[SessionID]>([])
    let userTurns = UserTurns()
    let ids = SessionIDSource()
    /// In steady time.
    let startedAt: Int64
    /// How long a use that is due may wait until the store is told of it: see ``run()``.
    private static let savingInterval: Int64 = 2_000

    /// - Parameters:
    ///   - journeys: the flows that journeys run.
    ///   - note: is told what the log should say of the code of services.
    package init(
        settings: SessionSettings = SessionSettings(), catalog: ServiceCatalog, store: any SessionStore,
        clock: any SessionClock = SystemClock(), random: any RandomSource = SystemRandom(),
        journeys: JourneySettings = JourneySettings(), note: @escaping @Sendable (ServiceNote) -> Void = { _ in }
    ) {
        var settings = settings
        if store.isShared { settings.useLag = settings.touchInterval + Self.savingInterval }
        // If the store ends with the process, it holds the same as memory, so evicting would save nothing.
        registry = SessionRegistry(
            mostBytes: store.outlivesProcess ? settings.maxResidentBytes : .max, stored: store.sessionCount)
        environment = SessionEnvironment(
            settings: settings, catalog: catalog, store: store, clock: clock, random: random,
            journeys: journeys, note: note, registry: registry)
        startedAt = clock.now()
    }

    // The remembered sessions refer to the environment, as does that of the process.
    deinit {
        environment.remembered.removeAll()
        environment.processDocuments.close()
    }

    package var settings: SessionSettings { environment.settings }
    package var journeySettings: JourneySettings { environment.definitions.journeys }
    package var catalog: ServiceCatalog { environment.definitions.catalog }
    /// Where journeys went since the process started.
    package var transitions: TransitionCounts { environment.transitions }

    /// The session of that id, for a caller that may read any session; `nil` when there is none, or it has expired and
    /// no work keeps it. Does not count as a use.
    package func session(_ id: SessionID) async throws(SessionError) -> Session? {
        guard let session = try await load(id), !session.isOver(now: environment.clock.now()) else { return nil }
        return session
    }

    /// Ends a session: its services are removed, newest first, then the session. Its tokens end when the store has
    /// stored the end; until then it exists for everyone, and writes wait. No commit in progress can bring it back.
    ///
    /// - Returns: whether it had not ended before.
    /// - Throws: the store's error. Then the session has not ended.
    @discardableResult
    package func end(_ session: Session) async throws(SessionError) -> Bool {
        try await finishMoves(from: session)
        return try await end(session, .requested)
    }

    /// What is on its way has left the session, and is not deleted with it.
    func finishMoves(from session: Session) async throws(SessionError) {
        guard session.isMovingJourneys else { return }
        do {
            try await finishMoves(of: session.id)
        } catch let error as SessionError where error.isTemporary {
            throw error
        } catch {
            // Another try would not help.
        }
    }

    /// Ends a session that its user did not ask to end. One that has work loses its tokens only, and stays for the work
    /// as one that has expired.
    ///
    /// - Returns: whether it has ended now, or has lost them.
    func dismiss(_ session: Session, _ end: SessionEnd) async throws(SessionError) -> Bool {
        if try await session.loseTokens(end) { return true }
        return try await self.end(session, end)
    }

    /// Ends a session that memory does not have, such as one that the store cannot read.
    ///
    /// - Parameter userID: whose it is, if that is known.
    /// - Returns: whether the store had it.
    package func endStored(
        _ id: SessionID, _ end: SessionEnd = .requested, of userID: String? = nil
    ) async throws(SessionError) -> Bool {
        // Nothing else is known of it.
        let notice = environment.notice(
            .ended, of: id, revision: 0, userID: userID, because: end, at: environment.clock.now())
        let isEnded = try await environment.ask { _ throws(StoreError) in
            try await environment.end(id, as: nil, telling: notice)
        }
        if isEnded { countEnd() }
        return isEnded
    }

    /// Ending takes the session's turn: units in progress finish first, and units that wait find the session ended.
    ///
    /// - Parameter isWanted: one for which it does not hold any more stays; nil for any.
    func end(
        _ session: Session, _ end: SessionEnd, if isWanted: (@Sendable (Session.State) -> Bool)? = nil
    ) async throws(SessionError) -> Bool {
        do {
            try await session.takeTurn(isLast: true)
        } catch {
            return false
        }
        defer { session.endTurn() }
        var standing: SessionStanding?
        if let isWanted {
            if environment.isShared {
                standing = try await session.standing()
                if standing == nil { session.endElsewhere() }
                guard standing?.revision == session.state.withLock(\.record.revision) else { return false }
            }
            guard session.state.withLock({ isWanted($0) }) else { return false }
        }
        do {
            try await finish(session, end, as: standing)
        } catch .contention where standing != nil {
            return false
        }
        return true
    }

    /// Tells the store, and then everyone else, that a session has ended.
    ///
    /// - Parameter standing: how it must be in the store; nil when it ends in any case.
    /// - Throws: ``SessionError/contention`` when it is not so.
    func finish(
        _ session: Session, _ end: SessionEnd, as standing: SessionStanding? = nil
    ) async throws(SessionError) {
        let id = session.id
        var last = session.stored
        var (wasStored, hasRemains) = (false, false)
        do throws(StoreError) {
            // When it has expired, or ends for a new one, there is nothing to leave.
            if end != .expired, end != .displaced { hasRemains = try await environment.leaveRemains(of: &last, end) }
            wasStored = hasRemains ? true : try await environment.end(&last, end, as: standing)
        } catch .gone {
        } catch {
            throw SessionError(error)
        }
        // When several callers end it at once, one removes it and the others have nothing to report.
        let removed = registry.remove(id)
        session.markEnded()
        // Another caller may just have loaded it again.
        if let removed, removed !== session { removed.markEnded() }
        if wasStored { environment.runEnded(last.record) }
        // A session that expired and left memory meanwhile still counts.
        guard removed != nil || (wasStored && environment.store.outlivesProcess) else { return }
        // One of which something is left counts until that is removed.
        if !hasRemains { countEnd() }
        if removed != nil { session.tellWatchers(of: end) }
    }

    /// Counts an ended session.
    func countEnd() {
        registry.giveBack(1)
        endedCount.wrappingAdd(1, ordering: .relaxed)
    }
}
