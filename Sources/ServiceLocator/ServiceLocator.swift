import Synchronization

/// Holds one instance for each key, and makes it when it is first resolved.
///
/// There is no global locator: pass one to the code that needs it. A locator is cheap to make, so it may live no longer
/// than a request. When it is deallocated it removes its instances, newest first, as `removeAll()` does.
///
/// ```swift
/// let process = ServiceLocator(registry: registry)
/// let session = ServiceLocator(registry: registry, parent: process)
/// let profile = try session.resolve(profileKey)
/// ```
///
/// All methods may be called from any thread. No factory, `clear`, `dispose` or observer runs under a lock. A thread
/// that resolves a key while another thread makes its instance blocks until the instance is made; other threads do not
/// wait.
public final class ServiceLocator: Sendable {
    /// The services that the locator knows.
    public let registry: ServiceRegistry
    /// The locator above, which holds the services of the process, and those of sessions that this one does not own.
    public let parent: ServiceLocator?
    let observers: [any ServiceObserver]
    private let supplied: [SuppliedService]
    /// The names of the services that this locator holds; nil when it holds all but those of the process.
    let owned: Set<String>?
    /// Locked for look-ups and changes only, never while factories, services or observers run.
    let table: Mutex<InstanceTable>
    /// Only the topmost locator's is used, for all locators below it.
    private let waits = Mutex(WaitGraph())

    /// - Parameters:
    ///   - registry: the services; usually the same for all locators of a program.
    ///   - parent: holds the services of the process; `nil` makes this locator hold them.
    ///   - supplying: ready-made instances, which this locator uses instead of factories.
    ///   - owning: the names of the services that this locator holds, and what it is supplied with; the others are its
    ///     parent's. `nil` makes it hold every service that is not of the process.
    ///   - living: the names of services that live already, the oldest first: their factories are called when they
    ///     are first resolved, and observers are not told that they were created.
    ///   - observers: are called for instances of this locator, not for those of its parent.
    public init(
        registry: ServiceRegistry, parent: ServiceLocator? = nil, supplying: [SuppliedService] = [],
        owning: Set<String>? = nil, living: [String] = [], observers: [any ServiceObserver] = []
    ) {
        table = Mutex(InstanceTable(living: living.compactMap { registry.place(named: $0)?.index }))
        self.registry = registry
        self.parent = parent
        self.supplied = supplying
        owned = owning.map { $0.union(supplying.map(\.key.name)) }
        self.observers = observers
    }

    deinit { removeAll() }

    /// The instance of a key. The first call makes it.
    ///
    /// When several threads call at once, one makes the instance and all get the same. When the factory throws, all of
    /// them get the error, and the next call tries again.
    ///
    /// - Throws: `ServiceLocatorError`; the error of a factory is its `underlying`.
    public func resolve<Instance: Sendable>(_ key: ServiceKey<Instance>) throws(ServiceLocatorError) -> Instance {
        try resolve(key, asker: nil)
    }

    /// The instance of a key, if one lives. Does not wait for an instance that is being made.
    public func existing<Instance: Sendable>(_ key: ServiceKey<Instance>) -> Instance? {
        guard let (home, place) = home(of: key.name), place.type == ObjectIdentifier(Instance.self) else { return nil }
        if let instance = home.liveInstance(at: place) { return unbox(instance, as: Instance.self) }
        guard case .dormant = home.table.withLock({ $0[place.index] }) else { return nil }
        return try? home.resolve(key)
    }

    /// Every registered service in the order of registration, with the state of its instance here or, for services of
    /// the process, above. Makes nothing.
    public var listing: [ServiceListing] {
        registry.registrations.compactMap { registration in
            guard let (home, place) = home(of: registration.key.name) else { return nil }
            let isSupplied = home.suppliedInstance(at: place) != nil
            var (order, isLive): (Int?, Bool) = (nil, isSupplied)
            if !isSupplied {
                switch home.table.withLock({ $0[place.index] }) {
                case .live(_, let number): (order, isLive) = (number, true)
                case .dormant: isLive = true
                case .building, nil: break
                }
            }
            return ServiceListing(
                key: registration.key, scope: registration.scope, isLive: isLive, isSupplied: isSupplied,
                creationOrder: order)
        }
    }

    /// The locator that holds the instance of a name, and the name's place in that locator's registry.
    ///
    /// The farthest ancestor that has a service of the process in its registry holds it. With one registry for all,
    /// that is the topmost locator.
    func home(of name: String) -> (locator: ServiceLocator, place: ServiceRegistry.Place)? {
        let own = registry.place(named: name)
        if let own, own.scope == .session {
            if parent == nil || owns(name) { return (self, own) }
            return parent?.home(of: name)
        }
        var found: (ServiceLocator, ServiceRegistry.Place)? = own.map { (self, $0) }
        var next = parent
        while let ancestor = next {
            let place = ancestor.registry === registry ? own : ancestor.registry.place(named: name)
            if let place, place.scope == .process { found = (ancestor, place) }
            next = ancestor.parent
        }
        return found
    }

    /// Whether this locator holds its instance of a service that is not of the process.
    func owns(_ name: String) -> Bool { owned.map { $0.contains(name) } ?? true }

    /// The supplied instance of a key that this locator holds.
    func suppliedInstance(at place: ServiceRegistry.Place) -> AnyInstance? {
        if supplied.isEmpty { return nil }
        let name = registry.registrations[place.index].key.name
        for service in supplied where ObjectIdentifier(service.key.type) == place.type && service.key.name == name {
            return service.instance
        }
        return nil
    }

    /// The instance of a key that this locator holds, supplied or made.
    func liveInstance(at place: ServiceRegistry.Place) -> AnyInstance? {
        if let instance = suppliedInstance(at: place) { return instance }
        guard case .live(let instance, _) = table.withLock({ $0[place.index] }) else { return nil }
        return instance
    }

    func withWaits<Answer: Sendable>(_ body: (inout WaitGraph) -> Answer) -> Answer {
        var top = self
        while let parent = top.parent { top = parent }
        return top.waits.withLock { body(&$0) }
    }
}
