extension ServiceLocator {
    /// Puts the instance of that key into its default state; its identity stays. Does nothing when none lives.
    ///
    /// - Throws: `ServiceLocatorError`: the key is unknown or of another type, the instance is no `Service` or its
    ///   `clear` threw, or it is one of the process and this locator has a parent.
    public func clear<Instance: Sendable>(_ key: ServiceKey<Instance>) throws(ServiceLocatorError) {
        try clear(key.erased)
    }

    /// The same for a key whose type is not known here.
    public func clear(_ key: AnyServiceKey) throws(ServiceLocatorError) {
        guard let (home, place) = home(of: key.name) else { throw .notRegistered(key) }
        let registration = home.registry.registrations[place.index]
        guard registration.key == key else { throw .wrongType(asked: key, registered: registration.key) }
        guard home === self else { throw .ownedByParent(key) }
        guard let instance = liveInstance(at: place) else { return }
        guard let service = registration.lifecycle(instance) else { throw .notClearable(key) }
        do { try service.clear() } catch { throw .clearFailed(key, error) }
        for observer in observers { observer.cleared(key) }
    }

    /// Takes the instance of that key out and disposes of it; the next access makes a new one.
    ///
    /// While the instance is being made, it is made to the end for those who wait for it, is not kept, and is disposed
    /// of at once: they see what they would have seen if it had been removed right after. Whoever asks in the
    /// meantime gets a new one.
    ///
    /// - Returns: whether there was one. Supplied instances, and those of the process when asked from below, stay.
    @discardableResult
    public func remove<Instance: Sendable>(_ key: ServiceKey<Instance>) -> Bool {
        remove(key.erased)
    }

    /// The same for a key whose type is not known here.
    @discardableResult
    public func remove(_ key: AnyServiceKey) -> Bool {
        guard let (home, place) = home(of: key.name), home === self else { return false }
        let registration = registry.registrations[place.index]
        guard registration.key == key else { return false }
        switch table.withLock({ $0.remove(place.index) }) {
        case nil: return false
        case .building: return true
        case .live(let instance, _):
            release(instance, of: registration)
            return true
        }
    }

    /// Takes out and disposes of everything that lives here, newest first: whoever resolved another service when it
    /// was made goes before that one. What is being made goes as with `remove(_:)`; supplied instances stay.
    public func removeAll() {
        for entry in table.withLock({ $0.removeAll() }) {
            guard case .live(let instance, _) = entry.slot else { continue }
            release(instance, of: registry.registrations[entry.index])
        }
    }

    /// After the instance has left the table.
    func release(_ instance: AnyInstance, of registration: Registration) {
        registration.lifecycle(instance)?.dispose()
        for observer in observers { observer.removed(registration.key) }
    }
}
