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

    /// On the services of a session, and those of the process as they are at this moment.
    convenience init(start: PendingState, _ process: ProcessState) {
        let catalog = start.catalog
        // A damaged one is an error only for a caller that resolves it.
        let readable = start.living.instances.filter { !$0.isDamaged }
        self.init(catalog: catalog, living: readable.map { catalog[$0.service] }.filter(\.isDeclared)) {
            (service) throws(SessionError) in
            let kept = service.scope == .process ? try process.document(of: service) : start.document(of: service)
            guard let committed = try service.readable(kept) else { return nil }
            return try service.document(parsing: committed)
        }
    }

    /// Makes the object of a service for a locator.
    ///
    /// - Parameter body: gets the state: the committed one, or the default when there is none or when the instance with
    ///   the committed state was cleared or removed. Also whether the instance is new.
    static func make<Object>(
        _ name: String, _ resolver: borrowing ServiceResolver,
        _ body: (_ state: ServiceState, _ isNew: Bool) throws -> Object
    ) throws -> Object {
        let unit = try resolver.resolve(key)
        let service = try unit.catalog.service(named: name)
        let former = unit.states.withLock { $0.filter { $0.service === service } }
        let committed = former.contains(where: \.isRenewed) ? nil : try unit.start(service)
        let isNew = former.last?.isRemoved ?? (committed == nil && !unit.living.contains { $0 === service })
        let state = ServiceState(of: service, document: committed ?? service.default)
        unit.states.withLock { $0.append(state) }
        do {
            return try body(state, isNew)
        } catch {
            unit.states.withLock { $0.removeAll { $0 === state } }
            throw error
        }
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

    /// The services that were used, with what has become of them.
    ///
    /// - Throws: ``SessionError/readOnly(service:)`` when one was changed that others write.
    private func outcomes() throws(SessionError) -> [(
        service: RegisteredService, document: JSONDocument, ServiceState.Change
    )] {
        var outcomes: [(service: RegisteredService, document: JSONDocument, ServiceState.Change)] = []
        for state in states.withLock({ $0 }) {
            let outcome = try state.outcome()
            // Who is signed in, where journeys stand, and what is of the process, is not changed from here.
            if outcome.change != .none, !state.service.isOpenToFlows { throw .readOnly(service: state.service.name) }
            if state.service.scope == .session { outcomes.append((state.service, outcome.document, outcome.change)) }
        }
        return outcomes
    }

    /// Adds the changes of the services to `pending`.
    func finish(into pending: inout PendingState, limit: Int) throws(SessionError) {
        for (service, document, change) in try outcomes() {
            switch change {
            case .none: pending.create(service)
            case .written:
                pending.write(
                    service, try service.bytes(of: document, limit: limit, isEncoded: service.misfit != nil))
            case .cleared: pending.clear(service)
            case .removed: pending.remove(service)
            }
        }
    }

    /// The changes of the services, for a step of a journey.
    func changes() throws(SessionError) -> [ServiceChange] {
        try outcomes().compactMap { service, document, change in
            switch change {
            case .none: nil
            case .written: ServiceChange(service: service.name, effect: .written(document))
            case .cleared: ServiceChange(service: service.name, effect: .cleared)
            case .removed: ServiceChange(service: service.name, effect: .removed)
            }
        }
    }

    /// The same for what a coordinator owns.
    func finish(into work: inout JourneyWork, of coordinator: Int, in journey: String) throws(SessionError) {
        for (service, document, change) in try outcomes() {
            let isLive = work.owned(service, by: coordinator, in: journey) != nil
            switch change {
            case .none: continue
            case .cleared where !isLive: continue
            case .removed where !isLive: continue
            case .written, .cleared: try work.setOwned(service, of: coordinator, in: journey, to: document)
            case .removed: try work.setOwned(service, of: coordinator, in: journey, to: nil)
            }
        }
    }
}

/// The document of one service during a unit of work. Nothing is visible outside before the commit.
package final class ServiceState: Sendable {
    package let service: RegisteredService
    /// Guards all.
    private let content: Mutex<Content>

    private struct Content: Sendable {
        var document: JSONDocument
        var change = Change.none
        /// Whose state it is; `nil` for a service without behaviour. It refers back until the locator removes it, which
        /// it does at the latest when it is deallocated.
        var object: (any StateObject)?
    }

    /// The last change of the state in the unit of work.
    enum Change: Sendable {
        case none, written, cleared, removed
    }

    init(of service: RegisteredService, document: JSONDocument) {
        self.service = service
        content = Mutex(Content(document: document))
    }

    /// The whole document. It is checked against the service's schema when the unit of work ends.
    package var document: JSONDocument {
        get { content.withLock { $0.document } }
        set { content.withLock { ($0.document, $0.change) = (newValue, .written) } }
    }

    /// Resets the state to the default.
    package func clear() {
        content.withLock { ($0.document, $0.change) = (service.default, .cleared) }
    }

    /// The locator removed the instance.
    func remove() {
        content.withLock { ($0.change, $0.object) = (.removed, nil) }
    }

    /// Whether the instance was cleared or removed.
    var isRenewed: Bool { content.withLock { $0.change == .cleared || $0.change == .removed } }

    /// Whether the locator has removed the instance.
    var isRemoved: Bool { content.withLock { $0.change == .removed } }

    /// From now on the state is what the object has.
    func follow(_ object: any StateObject) { content.withLock { $0.object = object } }

    /// The document and its last change, once no code uses the service any more.
    func outcome() throws(SessionError) -> (document: JSONDocument, change: Change) {
        let (before, object) = content.withLock { ($0.document, $0.object) }
        do {
            if let changed = try object?.change(from: before) { document = changed }
        } catch {
            throw SessionError(thrown: error, by: service.name)
        }
        return content.withLock { ($0.document, $0.change) }
    }
}

extension SessionEnvironment {
    /// A part of a unit of work on typed services: they are resolved from the locator and changed as plain objects.
    ///
    /// When `body` returns, everything that changed is checked against its schema and becomes a part of the pending
    /// state. When it throws, nothing does. The locator and its instances have no effect afterwards.
    ///
    /// - Parameters:
    ///   - journey: the locator is that of the journey's topmost coordinator: it holds what the coordinator owns, and
    ///     its parent is that of the coordinator above, at last the session's. Nil for the session's.
    /// - Throws: ``SessionError``, and what `body` throws.
    func withLocator<Result>(
        on pending: inout PendingState, inJourney journey: String? = nil, _ body: (ServiceLocator) throws -> Result
    ) throws -> Result {
        let work = UnitOfWork(start: pending, processDocuments.now)
        var locator = work.locator(parent: process)
        var owned: [(work: UnitOfWork, coordinator: Int)] = []
        if let journey {
            let journeys = try JourneyWork(on: pending, self)
            for level in try journeys.levels(in: journey).reversed() {
                let own = journeys.unit(of: level, in: journey)
                locator = own.locator(parent: locator, owning: Set(level.names))
                owned.append((own, level.coordinator))
            }
        }
        // A locator that goes takes its instances with it, which is to remove them: it has to stay till the end.
        return try withExtendedLifetime(locator) {
            let result = try body(locator)
            try work.finish(into: &pending, limit: settings.maxDocumentSize)
            guard let journey, !owned.isEmpty else { return result }
            var journeys = try JourneyWork(on: pending, self)
            for own in owned { try own.work.finish(into: &journeys, of: own.coordinator, in: journey) }
            pending = journeys.pending
            return result
        }
    }
}
