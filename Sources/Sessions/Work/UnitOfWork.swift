import JSONDocument
import ServiceLocator
import Synchronization

/// The states that the services of a locator use while a closure of `read` or `update` runs.
///
/// It is supplied to the locator. Factories of document services resolve it and ask it for their state.
package final class UnitOfWork: Sendable {
    package static let key = ServiceKey("unit-of-work", of: UnitOfWork.self)

    private let catalog: ServiceCatalog
    /// What lives when it begins, oldest first.
    private let living: [RegisteredService]
    /// The state of a service when it begins; nil when it was never written.
    private let start: @Sendable (RegisteredService) throws(SessionError) -> JSONDocument?
    /// In the order in which they were handed out. A service that was removed and created again is in it twice.
    private let states = Mutex<[ServiceState]>([])

    init(
        catalog: ServiceCatalog, living: [RegisteredService],
        start: @escaping @Sendable (RegisteredService) throws(SessionError) -> JSONDocument?
    ) {
        self.catalog = catalog
        self.living = living
        self.start = start
    }

    /// On the services of a session.
    convenience init(start: PendingState, catalog: ServiceCatalog) {
        // A damaged one is an error only for a caller that resolves it.
        let readable = start.living.instances.filter { !$0.isDamaged }
        self.init(catalog: catalog, living: readable.map { catalog.services[Int($0.service)] }) {
            (service) throws(SessionError) in
            guard let committed = try service.readable(start.document(of: service)) else { return nil }
            return try service.document(parsing: committed)
        }
    }

    /// The state for a new instance of the service: the committed one, or the default when there is none or when the
    /// instance with the committed state was removed.
    package func state(named name: String) throws(SessionError) -> ServiceState {
        let service = try catalog.service(named: name)
        let isRenewed = states.withLock { $0.contains { $0.service === service && $0.isRemoved } }
        var document = service.default
        if !isRenewed, let committed = try start(service) { document = committed }
        let state = ServiceState(of: service, document: document)
        states.withLock { $0.append(state) }
        return state
    }

    /// A locator over this unit of work, in which everything lives that lives when it begins, in the same order.
    ///
    /// - Parameter owning: the services that it holds; nil for all.
    func locator(parent: ServiceLocator?, owning: Set<String>? = nil) throws(SessionError) -> ServiceLocator {
        let locator = ServiceLocator(
            registry: catalog.registry, parent: parent, supplying: [SuppliedService(Self.key, self)], owning: owning)
        for service in living {
            do {
                try service.revive(locator)
            } catch {
                throw SessionError(error, service: service.name)
            }
        }
        return locator
    }

    /// Adds the changes of the services to `pending`.
    func finish(into pending: inout PendingState, limit: Int) throws(SessionError) {
        for state in states.withLock({ $0 }) {
            let outcome = try state.outcome()
            switch outcome.change {
            case .none: pending.create(state.service)
            case .written: pending.write(state.service, try state.service.bytes(of: outcome.document, limit: limit))
            case .cleared: pending.clear(state.service)
            case .removed: pending.remove(state.service)
            }
        }
    }

    /// The same for what a coordinator owns.
    func finish(into work: inout JourneyWork, of coordinator: Int, in journey: String) throws(SessionError) {
        for state in states.withLock({ $0 }) {
            let outcome = try state.outcome()
            let isLive = work.owned(state.service, by: coordinator, in: journey) != nil
            switch outcome.change {
            case .none: continue
            case .cleared where !isLive: continue
            case .removed where !isLive: continue
            case .written, .cleared:
                try work.setOwned(state.service, of: coordinator, in: journey, to: outcome.document)
            case .removed: try work.setOwned(state.service, of: coordinator, in: journey, to: nil)
            }
        }
    }
}
