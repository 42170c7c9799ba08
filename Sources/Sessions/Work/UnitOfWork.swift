import JSONDocument
import ServiceLocator
import Synchronization

/// The states that the services of a locator use while a closure of `read` or `update` runs.
///
/// It is supplied to the locator. Factories of document services resolve it and ask it for their state.
package final class UnitOfWork: Sendable {
    package static let key = ServiceKey("unit-of-work", of: UnitOfWork.self)

    private let catalog: ServiceCatalog
    private let start: PendingState
    /// In the order in which they were handed out. A service that was removed and created again is in it twice.
    private let states = Mutex<[ServiceState]>([])

    init(start: PendingState, catalog: ServiceCatalog) {
        self.start = start
        self.catalog = catalog
    }

    /// The state for a new instance of the service: the committed one, or the default when there is none or when the
    /// instance with the committed state was removed.
    package func state(named name: String) throws(SessionError) -> ServiceState {
        let service = try catalog.service(named: name)
        let isRenewed = states.withLock { $0.contains { $0.service === service } }
        var document = service.default
        if !isRenewed, let committed = start.document(of: service) {
            document = try service.document(parsing: committed.bytes)
        }
        let state = ServiceState(of: service, document: document)
        states.withLock { $0.append(state) }
        return state
    }

    /// A locator for this unit of work, with every instance that lives in the session, in the same order.
    func locator(parent: ServiceLocator?) throws(SessionError) -> ServiceLocator {
        let locator = ServiceLocator(
            registry: catalog.registry, parent: parent, supplying: [SuppliedService(Self.key, self)])
        for instance in start.instances {
            let service = catalog.services[Int(instance.service)]
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
            let outcome = state.outcome
            switch outcome.change {
            case .none: pending.create(state.service)
            case .written: pending.write(state.service, try state.service.bytes(of: outcome.document, limit: limit))
            case .cleared: pending.clear(state.service)
            case .removed: pending.remove(state.service)
            }
        }
    }
}
