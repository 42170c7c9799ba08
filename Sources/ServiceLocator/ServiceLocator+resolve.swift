extension ServiceLocator {
    /// - Parameter asker: in whose factory the call is made; `nil` from outside of any.
    func resolve<Instance: Sendable>(
        _ key: ServiceKey<Instance>, asker: Construction?
    ) throws(ServiceLocatorError) -> Instance {
        // The usual case goes without a reference to the home, which is here.
        if let place = registry.place(named: key.name), place.scope == .session || parent == nil {
            return try take(key, at: place, asker)
        }
        guard let (home, place) = home(of: key.name) else { throw .notRegistered(key.erased) }
        return try home.take(key, at: place, asker)
    }

    /// Of a key whose home is here.
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

    /// Finds out who makes the instance; whoever finds nothing does.
    private func step(at index: Int, _ asker: Construction?) -> Step {
        table.withLock { table in
            switch table[index] {
            case .live(let instance, _): return .take(instance)
            case .building(let construction): return .wait(construction)
            case nil:
                let construction = Construction(
                    registry.registrations[index], at: index, outer: asker, thread: .current)
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
            // What another factory or this locator has said already is not wrapped once more at each level.
            let failure = error as? ServiceLocatorError ?? .factoryFailed(registration.key, error)
            table.withLock { $0.fail(construction) }
            construction.finish(.failure(failure))
            throw failure
        }
        // Before anybody can see the instance, hence before anybody can remove it: observers hear things in order.
        for observer in observers { observer.created(registration.key) }
        let isKept = table.withLock { $0.complete(construction, with: box) }
        construction.finish(.success(box))
        // Removed while it was made: as if it had been removed right after.
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

/// What a factory gets to resolve what its service needs.
///
/// It knows for whose sake it asks: services that need each other are an error with the whole chain, and a service of
/// the process cannot ask for one of a session. It can neither be copied nor kept, so a service that wants another
/// one later has to be given that one, or a way to get it, in its initializer.
public struct ServiceResolver: ~Copyable {
    let locator: ServiceLocator
    let construction: Construction

    /// The key that is being made, for factories that serve several names.
    public var key: AnyServiceKey { construction.key }

    /// The instance of that key, which is made if it does not live yet.
    ///
    /// - Throws: `ServiceLocatorError`; a factory usually lets it through.
    public func resolve<Instance: Sendable>(_ key: ServiceKey<Instance>) throws(ServiceLocatorError) -> Instance {
        try locator.resolve(key, asker: construction)
    }
}
