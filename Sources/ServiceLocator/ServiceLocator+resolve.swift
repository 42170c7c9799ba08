extension ServiceLocator {
    /// - Parameter asker: the construction whose factory calls; `nil` outside of factories.
    func resolve<Instance: Sendable>(
        _ key: ServiceKey<Instance>, asker: Construction?
    ) throws(ServiceLocatorError) -> Instance {
        // The usual case: this locator holds the instance.
        if let place = registry.place(named: key.name),
            parent == nil || (place.scope == .session && (owned == nil || owns(key.name)))
        {
            return try take(key, at: place, asker)
        }
        guard let (home, place) = home(of: key.name) else { throw .notRegistered(key.erased) }
        return try home.take(key, at: place, asker)
    }

    /// Resolves a key that this locator holds.
    private func take<Instance: Sendable>(
        _ key: ServiceKey<Instance>, at place: ServiceRegistry.Place, _ asker: Construction?
    ) throws(ServiceLocatorError) -> Instance {
        guard place.type == ObjectIdentifier(Instance.self) else {
            throw .wrongType(asked: key.erased, registered: registry.registrations[place.index].key)
        }
        if let asker, place.scope == .session, asker.registration.scope == .process {
            throw .processNeedsSession(process: asker.key, session: key.erased)
        }
        if let supplied = suppliedInstance(at: place) { return unbox(supplied, as: Instance.self) }
        switch step(at: place.index, asker) {
        case .take(let instance): return unbox(instance, as: Instance.self)
        case .wait(let construction): return unbox(try wait(for: construction, asker), as: Instance.self)
        case .build(let construction): return try build(construction)
        }
    }

    private enum Step {
        case take(AnyInstance)
        case wait(Construction)
        case build(Construction)
    }

    /// Takes the instance, or finds the thread that makes it; without one, this thread begins to make it.
    private func step(at index: Int, _ asker: Construction?) -> Step {
        table.withLock { table in
            let slot = table[index]
            switch slot {
            case .live(let instance, _): return .take(instance)
            case .building(let construction): return .wait(construction)
            case .dormant, nil:
                let construction = Construction(
                    registry.registrations[index], at: index, outer: asker, thread: .current, wakes: slot != nil)
                table.begin(construction)
                return .build(construction)
            }
        }
    }

    private func build<Instance: Sendable>(_ construction: Construction) throws(ServiceLocatorError) -> Instance {
        let registration = construction.registration
        let box: Box<Instance>
        do {
            guard let make = unsafeDowncast(registration.factory, to: Factory<Instance>.self).make else {
                throw ServiceLocatorError.notSupplied(registration.key)
            }
            box = Box(try make(ServiceResolver(locator: self, construction: construction)))
        } catch {
            // An error of a nested `resolve` is passed on as it is.
            let failure = error as? ServiceLocatorError ?? .factoryFailed(registration.key, error)
            table.withLock { $0.fail(construction) }
            construction.finish(.failure(failure))
            throw failure
        }
        // Before another thread can get the instance and remove it, so that observers are called in order.
        if !construction.wakes { for observer in observers { observer.created(registration.key) } }
        let isKept = table.withLock { $0.complete(construction, with: box) }
        construction.finish(.success(box))
        // It was removed while it was being made.
        if !isKept { release(box, of: registration) }
        return box.value
    }

    private func wait(for construction: Construction, _ asker: Construction?) throws(ServiceLocatorError) -> AnyInstance
    {
        let thread = ThreadIdentity.current
        if let ring = withWaits({ $0.begin(thread, for: construction, asker: asker) }) { throw .cycle(ring) }
        let outcome = construction.wait()
        withWaits { $0.end(thread) }
        return try outcome.get()
    }
}

/// Resolves the services that a factory needs.
///
/// It knows which service is being made, so services that need each other are an error with the whole chain, and a
/// service of the process cannot resolve one of a session. It can be neither copied nor stored. A service that needs
/// another one later gets it, or a way to get it, in its initializer.
public struct ServiceResolver: ~Copyable {
    let locator: ServiceLocator
    let construction: Construction

    /// The key that is being made, for factories that are registered under several names.
    public var key: AnyServiceKey { construction.key }

    /// The instance of a key. The first call makes it.
    ///
    /// - Throws: `ServiceLocatorError`; a factory usually rethrows it.
    public func resolve<Instance: Sendable>(_ key: ServiceKey<Instance>) throws(ServiceLocatorError) -> Instance {
        try locator.resolve(key, asker: construction)
    }
}
