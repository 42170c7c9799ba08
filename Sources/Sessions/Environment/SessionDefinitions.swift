import Glibc
import Synchronization

/// The services and flows of all sessions, and what follows from them. Immutable: a reload replaces the whole. A unit
/// of work takes it once (``PendingState/definitions``), so it sees one state of it.
final class SessionDefinitions: Sendable {
    let catalog: ServiceCatalog
    let journeys: JourneySettings
    /// One more than that of the definitions before. What was made by others is told by it.
    let number: Int
    /// Services with a hook for their first use that flows name.
    let createdForJourneys: [RegisteredService]
    /// Services whose writes may change when a journey is due; nearly always none.
    let clockedServices: [RegisteredService]
    /// Whether the process has documents.
    let hasProcessDocuments: Bool
    private let coordinatorService: RegisteredService?

    init(_ catalog: ServiceCatalog, _ journeys: JourneySettings, number: Int = 1) {
        self.catalog = catalog
        self.journeys = journeys
        self.number = number
        createdForJourneys = catalog.hasCreated ? journeys.engine.catalog.named(catalog) : []
        clockedServices = journeys.engine.catalog.clockedServices.compactMap { catalog[$0] }
        hasProcessDocuments = catalog.services.contains { $0.scope == .process }
        coordinatorService = catalog[CoordinatorService.name]
    }

    var coordinatorIndex: UInt16? { coordinatorService?.index }

    /// The service that keeps the journeys.
    ///
    /// - Throws: ``SessionError/notRegistered(service:)`` when the catalogue has none.
    var coordinator: RegisteredService {
        get throws(SessionError) {
            guard let coordinatorService else { throw .notRegistered(service: CoordinatorService.name) }
            return coordinatorService
        }
    }
}

/// The definitions in force. Threads read different copies of the reference, so that they do not contend for a lock.
final class DefinitionsInForce: Sendable {
    private let copies: Shards<SessionDefinitions>
    private let latest: Atomic<Int>
    private let replacing = Mutex(())

    private static let copyCount = 16
    /// Threads are the stack's size apart in memory, at least so many bits.
    private static let threadShift: UInt = 12

    init(_ definitions: SessionDefinitions) {
        copies = Shards(count: Self.copyCount) { definitions }
        latest = Atomic(definitions.number)
    }

    var current: SessionDefinitions {
        copies.withLock(Int(truncatingIfNeeded: UInt(pthread_self()) >> Self.threadShift) & (Self.copyCount - 1)) { $0 }
    }

    /// ``SessionDefinitions/number`` of the current ones.
    var number: Int { latest.load(ordering: .acquiring) }

    /// Replaces them for all units of work that begin after this has returned; those that begin before get either.
    ///
    /// - Returns: the new ones.
    @discardableResult
    func replace(_ catalog: ServiceCatalog, _ journeys: JourneySettings) -> SessionDefinitions {
        replacing.withLock { _ in
            let new = SessionDefinitions(catalog, journeys, number: number + 1)
            for place in 0..<copies.count { copies.withLock(place) { $0 = new } }
            latest.store(new.number, ordering: .releasing)
            return new
        }
    }
}
