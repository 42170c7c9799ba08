extension ServiceLocator {
    /// Sets the instance of a key to its default state; its identity stays. Does nothing when there is no instance.
    ///
    /// - Throws: `ServiceLocatorError`: the key is unknown or has another type, the instance is no `Service` or its
    ///   `clear` threw, or it is a service of the process and this locator has a parent.
    public func clear<Instance: Sendable>(_ key: ServiceKey<Instance>) throws(ServiceLocatorError) {
        try clear(key.erased)
    }

    /// Sets the instance of a key to its default state; see `clear(_:)` of a `ServiceKey`.
    public func clear(_ key: AnyServiceKey) throws(ServiceLocatorError) {
        guard let (home, place) = home(of: key.name) else { throw .notRegistered(key) }
        let registration = home.registry.registrations[place.index]
        guard registration.key == key else { throw .wrongType(asked: key, registered: registration.key) }
        guard home === self else { throw .ownedByParent(key) }
        if let instance = liveInstance(at: place) {
            guard let service = registration.lifecycle(instance) else { throw .notClearable(key) }
            do { try service.clear() } catch { throw .clearFailed(key, error) }
        } else {
            guard case .dormant = table.withLock({ $0[place.index] }) else { return }
        }
        for observer in observers { observer.cleared(key) }
    }

    /// Removes the instance of a key and disposes of it; the next `resolve` makes a new one.
    ///
    /// An instance that is being made is finished for the threads that wait for it, and then disposed of, as if it had
    /// been removed right afterwards. A `resolve` in the meantime makes a new one.
    ///
    /// - Returns: whether there was an instance. Supplied instances are not removed, nor services of the process by a
    ///   locator that has a parent.
    @discardableResult
    public func remove<Instance: Sendable>(_ key: ServiceKey<Instance>) -> Bool {
        remove(key.erased)
    }

    /// Removes the instance of a key; see `remove(_:)` of a `ServiceKey`.
    @discardableResult
    public func remove(_ key: AnyServiceKey) -> Bool {
        guard let (home, place) = home(of: key.name), home === self else { return false }
        let registration = registry.registrations[place.index]
        guard registration.key == key else { return false }
        switch table.withLock({ $0.remove(place.index) }) {
        case nil: return false
        case .building: return true
        case .dormant:
            release(nil, of: registration)
            return true
        case .live(let instance, _):
            release(instance, of: registration)
            return true
        }
    }

    /// Removes and disposes of all instances of this locator, newest first, so a service is disposed of before the
    /// services that its factory resolved. Treats instances that are being made as `remove(_:)` does; supplied
    /// instances stay.
    public func removeAll() {
        for entry in table.withLock({ $0.removeAll() }) {
            let registration = registry.registrations[entry.service]
            switch entry.slot {
            case .live(let instance, _): release(instance, of: registration)
            case .dormant: release(nil, of: registration)
            case .building: continue
            }
        }
    }

    /// Disposes of an instance that has left the table.
    ///
    /// - Parameter instance: `nil` when no object was made of it.
    func release(_ instance: AnyInstance?, of registration: Registration) {
        instance.flatMap { registration.lifecycle($0) }?.dispose()
        for observer in observers { observer.removed(registration.key) }
    }
}
