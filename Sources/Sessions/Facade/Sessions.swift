import JSONDocument
import ServiceLocator
import Synchronization

/// All sessions of a process: makes them, finds them by their tokens, ends them.
///
/// ```swift
/// let sessions = Sessions(catalog: try ServiceCatalog(), store: MemoryStore())
/// let (session, token) = try await sessions.create()
/// try await session.update { try $0.resolve(ProfileService.key).name = "Ada" }
/// let same = try await sessions.authenticate(PresentedToken(token.text))
/// ```
///
/// There is no global one: whoever needs it is handed it. Somebody has to run ``run()``, which is what removes
/// sessions whose time is over.
package final class Sessions: Sendable {
    let environment: SessionEnvironment
    let registry: SessionRegistry
    let createdCount = Atomic<Int>(0)
    let endedCount = Atomic<Int>(0)
    let ids = SessionIDSource()
    /// In steady time.
    let startedAt: Int64

    /// - Parameters:
    ///   - parent: where the services of the process live.
    ///   - observers: are told what is committed.
    ///   - journeys: the flows that journeys run.
    package init(
        settings: SessionSettings = SessionSettings(), catalog: ServiceCatalog, store: any SessionStore,
        clock: any SessionClock = SystemClock(), random: any RandomSource = SystemRandom(),
        parent: ServiceLocator? = nil, observers: [any SessionObserver] = [],
        journeys: JourneySettings = JourneySettings()
    ) {
        environment = SessionEnvironment(
            settings: settings, catalog: catalog, store: store, clock: clock, random: random, parent: parent,
            observers: observers, journeys: journeys)
        startedAt = clock.now()
        // A store that ends with the process holds what memory holds: nothing would be won.
        registry = SessionRegistry(
            residentLimit: store.outlivesProcess ? settings.maxResidentSessions : .max, stored: store.sessionCount)
    }

    // The remembered sessions know the environment that they are remembered in.
    deinit { environment.remembered.removeAll() }

    package var settings: SessionSettings { environment.settings }
    package var journeySettings: JourneySettings { environment.journeys }
    package var catalog: ServiceCatalog { environment.catalog }

    /// The session of that id, for who may look at any; nil when there is none, or its time is over. Not a use of it.
    package func session(_ id: SessionID) async throws(SessionError) -> Session? {
        guard let session = try await load(id), !session.isOver(now: environment.clock.now()) else { return nil }
        return session
    }

    /// Ends a session: its services are removed, newest first, then the session. Its tokens are dead from the moment
    /// that the store has its end; until then it is there for everybody, and writes wait. Nothing that is being written
    /// can bring it back.
    ///
    /// - Returns: whether it was not over before.
    /// - Throws: what the store says. Then the session has not ended.
    @discardableResult
    package func end(_ session: Session) async throws(SessionError) -> Bool {
        try await end(session, .requested)
    }

    /// An end takes the session's turn: what is under way is done before, and what waits finds the session ended.
    func end(_ session: Session, _ end: SessionEnd) async throws(SessionError) -> Bool {
        do {
            try await session.takeTurn(isLast: true)
        } catch {
            return false
        }
        defer { session.endTurn() }
        #if PLANTED_BUGS
            if PlantedBug.endShownEarly.isActive { session.markEnded() }
        #endif
        try await finish(session, end)
        return true
    }

    /// Tells the store that a session has ended, and then everybody else.
    func finish(_ session: Session, _ end: SessionEnd) async throws(SessionError) {
        let id = session.id
        let wasStored: Bool
        do {
            wasStored = try await environment.store.end(id)
        } catch {
            throw SessionError(error)
        }
        // Of several who end it at once, one takes it out; the others have nothing to tell.
        let removed = registry.remove(id)
        session.markEnded()
        // Somebody may just have loaded it once more.
        if let removed, removed !== session { removed.markEnded() }
        // One that has expired meanwhile and left memory has its place still.
        guard removed != nil || (wasStored && environment.store.outlivesProcess) else { return }
        countEnd()
        if removed != nil { announceEnd(of: session, end) }
    }

    /// A session is no more.
    func countEnd() {
        registry.giveBack(1)
        endedCount.wrappingAdd(1, ordering: .relaxed)
    }

    func announceEnd(of session: Session, _ end: SessionEnd) {
        guard !environment.observers.isEmpty else { return }
        let (services, revision) = session.remains
        environment.notify(
            session.id, services.map { .serviceRemoved(name: $0.name) } + [.ended(end)], revision: revision)
    }
}
