import Synchronization

/// Gives each key its instance, and makes it when it is first asked for.
///
/// There is no global locator: whoever needs one is handed it. Making one is cheap, so a locator may live as short as
/// a request. Instances leave newest first when the locator goes, as with `removeAll()`.
///
/// ```swift
/// let process = ServiceLocator(registry: registry)
/// let session = ServiceLocator(registry: registry, parent: process)
/// let profile = try session.resolve(profileKey)
/// ```
///
/// All methods may be called from any thread. No factory, `clear`, `dispose` or observer runs under a lock. Threads
/// that ask for an instance while another one makes it block until it is there; all others go on.
public final class ServiceLocator: Sendable {
    /// The services that it can create.
    public let registry: ServiceRegistry
    /// The locator that services of wider scope live in; `nil` for the topmost one.
    public let parent: ServiceLocator?
    let observers: [any ServiceObserver]
    private let supplied: [SuppliedService]
    /// Held for look-ups and changes only, never while code from outside runs.
    let table = Mutex(InstanceTable())
    /// That of the topmost locator is used for all below it.
    private let waits = Mutex(WaitGraph())

    /// - Parameters:
    ///   - registry: usually the same for all locators of a program.
    ///   - parent: where the services of the process live; `nil` makes this their place.
    ///   - supplying: ready-made instances, which take the place of factories here.
    ///   - observers: are told of the instances of this locator, not of those of its parent.
    public init(
        registry: ServiceRegistry, parent: ServiceLocator? = nil, supplying: [SuppliedService] = [],
        observers: [any ServiceObserver] = []
    ) {
        self.registry = registry
        self.parent = parent
        self.supplied = supplying
        self.observers = observers
    }

    deinit { removeAll() }

    /// The instance of that key, which is made if it does not live yet.
    ///
    /// Of many callers at once, one makes it and the others get the same. When its factory throws, all of them get
    /// the error, and the next access tries again.
    ///
    /// - Throws: `ServiceLocatorError`; what a factory threw is its `underlying`.
    public func resolve<Instance: Sendable>(_ key: ServiceKey<Instance>) throws(ServiceLocatorError) -> Instance {
        try resolve(key, asker: nil)
    }

    /// The instance of that key if it lives. Makes nothing and waits for nothing: one that is being made is not there.
    public func existing<Instance: Sendable>(_ key: ServiceKey<Instance>) -> Instance? {
        guard let (home, place) = home(of: key.name), place.type == ObjectIdentifier(Instance.self),
            let instance = home.liveInstance(at: place)
        else { return nil }
        return unbox(instance, as: Instance.self)
    }

    /// Every registered service, in the order of registration, and whether it lives here or, for one of the process,
    /// above. Makes nothing.
    public var listing: [ServiceListing] {
        registry.registrations.compactMap { registration in
            guard let (home, place) = home(of: registration.key.name) else { return nil }
            let isSupplied = home.suppliedInstance(at: place) != nil
            var order: Int?
            if !isSupplied, case .live(_, let number) = home.table.withLock({ $0[place.index] }) { order = number }
            return ServiceListing(
                key: registration.key, scope: registration.scope, isLive: isSupplied || order != nil,
                isSupplied: isSupplied, creationOrder: order)
        }
    }

    /// Where the instance of that name lives, and its place in the registry there.
    ///
    /// A service of the process lives in the farthest ancestor that knows it: with one registry for all, that is the
    /// topmost locator.
    func home(of name: String) -> (locator: ServiceLocator, place: ServiceRegistry.Place)? {
        let own = registry.place(named: name)
        if let own, own.scope == .session { return (self, own) }
        var found: (ServiceLocator, ServiceRegistry.Place)? = own.map { (self, $0) }
        var next = parent
        while let ancestor = next {
            let place = ancestor.registry === registry ? own : ancestor.registry.place(named: name)
            if let place, place.scope == .process { found = (ancestor, place) }
            next = ancestor.parent
        }
        return found
    }

    /// Of a key whose home is here.
    func suppliedInstance(at place: ServiceRegistry.Place) -> AnyInstance? {
        if supplied.isEmpty { return nil }
        let name = registry.registrations[place.index].key.name
        for service in supplied where ObjectIdentifier(service.key.type) == place.type && service.key.name == name {
            return service.instance
        }
        return nil
    }

    /// Supplied or made, of a key whose home is here.
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
