import JSONDocument
import ServiceLocator
import Synchronization

/// What all sessions of a process share; its parts are safe to use from any thread.
final class SessionEnvironment: Sendable {
    let settings: SessionSettings
    private let inForce: DefinitionsInForce
    let store: any SessionStore
    /// The store, if it has nothing to wait for.
    let promptStore: (any PromptStore)?
    /// Whether the store is told when sessions were last used.
    let savesUses: Bool
    /// See ``SessionStore/isShared``.
    let isShared: Bool
    let clock: any SessionClock
    let random: any RandomSource
    /// Holds the services of the process.
    let process: ServiceLocator
    let processDocuments: ProcessDocuments
    /// Is told what the log should say of the code of services.
    let note: @Sendable (ServiceNote) -> Void
    /// Where journeys of all sessions went.
    let transitions: TransitionCounts
    /// Sessions whose journeys this process has moved, and that the store's index of journeys may have where they were.
    let movedSessions = Mutex<Set<SessionID>>([])
    /// What was last counted in the store.
    let counts = Mutex(StoreCounts())
    /// Results of tasks that were kept for an operator since the process started.
    let heldCount = Atomic<Int>(0)
    /// Tasks without a journey that nobody has done.
    let undoneCount = Atomic<Int>(0)
    /// Sessions in memory that have expired and stay for their work.
    let keptCount = Atomic<Int>(0)
    /// What the sessions in memory take (``Session/footprint``).
    let residentBytes = Atomic<Int>(0)
    /// Sessions that keep parsed journeys.
    let remembered = RememberedSessions()
    private let registry: Mutex<WeakRegistry>
    /// Callers that wait for tasks.
    let tasks: TaskQueue
    /// The sessions that are watched.
    let watches: SessionWatches
    /// Sessions with journeys that were on the way to others when something failed.
    let movesUnderWay = Mutex<Set<SessionID>>([])
    /// What is left of deleted sessions, where the store does not remove it.
    let remains = SessionRemains()
    /// Versions of flows that the store knows as the definitions in force have them.
    let knownFlows = Mutex(KnownFlows())

    init(
        settings: SessionSettings, catalog: ServiceCatalog, store: any SessionStore, clock: any SessionClock,
        random: any RandomSource,
        journeys: JourneySettings, note: @escaping @Sendable (ServiceNote) -> Void, registry: SessionRegistry
    ) {
        self.settings = settings
        self.registry = Mutex(WeakRegistry(registry: registry))
        let definitions = SessionDefinitions(catalog, journeys)
        inForce = DefinitionsInForce(definitions)
        self.store = store
        promptStore = store as? any PromptStore
        savesUses = store.outlivesProcess
        isShared = store.isShared
        self.clock = clock
        transitions = TransitionCounts(since: clock.now())
        tasks = TaskQueue(clock: clock)
        watches = SessionWatches(clock: clock, limits: settings.watchers)
        self.random = random
        process = ServiceLocator(registry: catalog.registry)
        processDocuments = ProcessDocuments(definitions)
        self.note = note
    }

    /// What units of work that begin now go by. One that has begun goes by ``PendingState/definitions``.
    var definitions: SessionDefinitions { inForce.current }

    /// See ``SessionDefinitions/number``.
    var definitionsNumber: Int { inForce.number }

    /// Replaces the services and flows. Documents stay as they are, also those of services that are not declared any
    /// more.
    func replaceDefinitions(_ catalog: ServiceCatalog, _ journeys: JourneySettings) {
        processDocuments.take(inForce.replace(catalog, journeys))
    }

    /// Called after each commit.
    func noteMoves(of id: SessionID, _ changedServices: [UInt16], _ definitions: SessionDefinitions) {
        if let index = definitions.coordinatorIndex, changedServices.contains(index) { noteMoved(id) }
    }

    /// The store's index of journeys may have the session's where they were.
    func noteMoved(_ id: SessionID) { movedSessions.withLock { _ = $0.insert(id) } }

    /// Determines anew when the journeys of a session are due, if services were written that decide that. Journeys that
    /// cannot be read do not keep anybody from writing a service.
    func redateJourneys(on pending: inout PendingState) {
        guard pending.isRecordChanged, pending.hasWritten(pending.definitions.clockedServices),
            var work = try? JourneyWork(on: pending, self), (try? work.redate()) == true
        else { return }
        pending = work.pending
    }

    /// The registry has the sessions, and each has this.
    private struct WeakRegistry { weak var registry: SessionRegistry? }

    /// See ``SessionStore/generation``. Of the number one byte is enough, since a session would have to stay in memory
    /// unread for 256 of them.
    var generation: UInt8 { UInt8(truncatingIfNeeded: store.generation) }

    /// Asks the store. What it refuses is an error of the session.
    func ask<Value>(
        _ request: (any SessionStore) async throws(StoreError) -> Value
    ) async throws(SessionError) -> Value {
        do { return try await request(store) } catch { throw SessionError(error) }
    }

    /// Another process has ended the session.
    func forget(_ session: Session) {
        if isShared { registry.withLock(\.registry)?.remove(session.id, session) }
    }

    /// The store is to be told of a use.
    func noteUse(of session: Session, at time: Int64) {
        registry.withLock(\.registry)?.noteUse(session.id, at: time)
    }

    /// All threads share the count, so it is changed only if necessary.
    func countBytes(_ difference: Int) {
        if difference != 0 { residentBytes.wrappingAdd(difference, ordering: .relaxed) }
    }

    /// By how many bytes there is too much in memory.
    var excessBytes: Int {
        store.outlivesProcess ? residentBytes.load(ordering: .relaxed) - settings.maxResidentBytes : 0
    }

    /// A session has grown.
    func makeRoom(near id: SessionID) {
        if excessBytes > 0 { registry.withLock(\.registry)?.makeRoom(near: id, self) }
    }

    func timestamp(_ steady: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: clock.wall(at: steady))
    }
}

extension SessionEnvironment {
    /// Counts what has become of a task, and tells the log.
    func tell(_ note: ServiceNote) {
        switch note {
        case .held: heldCount.wrappingAdd(1, ordering: .relaxed)
        case .undone: undoneCount.wrappingAdd(1, ordering: .relaxed)
        case .slow, .failed: break
        }
        self.note(note)
    }
}
