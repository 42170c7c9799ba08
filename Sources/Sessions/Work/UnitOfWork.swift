import JSONDocument
import Navigation
import ServiceLocator
import Synchronization

/// The states that the services of a locator use while a closure of `read` or `update` runs.
///
/// It is supplied to the locator. Factories of document services resolve it and ask it for their state.
package final class UnitOfWork: ServiceObserver {
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

    /// The state for the object of a service: the committed one, or the default when there is none or when the
    /// instance with the committed state was cleared or removed.
    package func state(named name: String) throws(SessionError) -> ServiceState {
        let service = try catalog.service(named: name)
        let isRenewed = states.withLock { $0.contains { $0.service === service && $0.isRenewed } }
        var document = service.default
        if !isRenewed, let committed = try start(service) { document = committed }
        let state = ServiceState(of: service, document: document)
        states.withLock { $0.append(state) }
        return state
    }

    /// A locator over this unit of work, in which everything lives that lives when it begins, in the same order.
    ///
    /// - Parameter owning: the services that it holds; nil for all.
    func locator(parent: ServiceLocator?, owning: Set<String>? = nil) -> ServiceLocator {
        ServiceLocator(
            registry: catalog.registry, parent: parent, supplying: [SuppliedService(Self.key, self)], owning: owning,
            living: living.map(\.name), observers: [self])
    }

    package func cleared(_ key: AnyServiceKey) { change(key) { $0.clear() } }

    package func removed(_ key: AnyServiceKey) { change(key) { $0.remove() } }

    /// Changes the state of the living instance, of which there may be no object.
    private func change(_ key: AnyServiceKey, _ change: (ServiceState) -> Void) {
        guard let service = catalog[key.name] else { return }
        states.withLock { states in
            if let last = states.last(where: { $0.service === service }), !last.isRemoved { return change(last) }
            let state = ServiceState(of: service, document: service.default)
            change(state)
            states.append(state)
        }
    }

    /// Adds the changes of the services to `pending`.
    func finish(into pending: inout PendingState, limit: Int) throws(SessionError) {
        for state in states.withLock({ $0 }) {
            let outcome = try state.outcome()
            switch outcome.change {
            case .none: pending.create(state.service)
            case .written:
                let bytes = try state.service.bytes(
                    of: outcome.document, limit: limit, isEncoded: state.service.misfit != nil)
                pending.write(state.service, bytes)
            case .cleared: pending.clear(state.service)
            case .removed: pending.remove(state.service)
            }
        }
    }

    /// The changes of the services, for a step of a journey.
    func changes() throws(SessionError) -> [ServiceChange] {
        var changes: [ServiceChange] = []
        for state in states.withLock({ $0 }) {
            let outcome = try state.outcome()
            let effect: ServiceChange.Effect
            switch outcome.change {
            case .none: continue
            case .written: effect = .written(outcome.document)
            case .cleared: effect = .cleared
            case .removed: effect = .removed
            }
            changes.append(ServiceChange(service: state.service.name, effect: effect))
        }
        return changes
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
