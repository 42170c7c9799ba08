extension ServiceLocator {
    /// - Parameter asker: in whose factory the call is made; `nil` from outside of any.
    func resolve<Instance: Sendable>(
        _ key: ServiceKey<Instance>, asker: Construction?
    ) throws(ServiceLocatorError) -> Instance {
        guard let (home, index) = home(of: key.name) else { throw .notRegistered(key.erased) }
        let registration = home.registry.registrations[index]
        guard let factory = registration.factory as? Factory<Instance> else {
            throw .wrongType(asked: key.erased, registered: registration.key)
        }
        if let asker, asker.scope == .process, registration.scope == .session {
            throw .processNeedsSession(process: asker.key, session: registration.key)
        }
        let instance = try home.instance(at: index, of: registration, factory, asker)
        // Only a supplied instance can be of another type: `SuppliedService` does not know the registry.
        guard let box = instance as? Box<Instance> else {
            throw .wrongType(asked: key.erased, registered: registration.key)
        }
        return box.value
    }

    private func instance<Instance: Sendable>(
        at index: Int, of registration: Registration, _ factory: Factory<Instance>, _ asker: Construction?
    ) throws(ServiceLocatorError) -> AnyInstance {
        if let supplied = suppliedInstance(named: registration.key.name) { return supplied }
        guard let make = factory.make else { throw .notSupplied(registration.key) }
        switch step(at: index, of: registration, asker) {
        case .take(let instance): return instance
        case .wait(let construction): return try wait(for: construction, asker)
        case .build(let construction): return try build(construction, of: registration, make)
        }
    }

    private enum Step {
        case take(AnyInstance)
        case wait(Construction)
        case build(Construction)
    }

    /// Finds out who makes the instance; whoever finds nothing does.
    private func step(at index: Int, of registration: Registration, _ asker: Construction?) -> Step {
        table.withLock { table in
            switch table[index] {
            case .live(let instance, _): return .take(instance)
            case .building(let construction): return .wait(construction)
            case nil:
                let construction = Construction(
                    key: registration.key, index: index, scope: registration.scope, outer: asker, thread: .current)
                table.begin(construction)
                return .build(construction)
            }
        }
    }

    private func build<Instance: Sendable>(
        _ construction: Construction, of registration: Registration,
        _ make: @Sendable (borrowing ServiceResolver) throws -> Instance
    ) throws(ServiceLocatorError) -> AnyInstance {
        let box: Box<Instance>
        do {
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
        return box
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
