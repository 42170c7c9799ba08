/// A service that can be cleared, and that is told when it leaves its locator.
///
/// A locator holds instances of any `Sendable` type. One that does not conform cannot be cleared, and is not told. The
/// locator makes both calls outside its locks, so they may take time and may resolve other services.
public protocol Service: AnyObject, Sendable {
    /// Sets the default state. Code that holds this instance keeps it and sees the default state from now on.
    ///
    /// There is no default implementation: only the service knows its default state, and replacing the instance would
    /// leave its holders with an instance that no other code gets.
    func clear() throws

    /// Releases the resources of the instance: files, connections, timers. Called once, after it has left the locator.
    /// Services are disposed of newest first, so the services that its factory resolved can still be used here.
    func dispose()
}

extension Service {
    /// Releases nothing.
    public func dispose() {}
}

/// One element of a locator's `listing`: a registered service and the state of its instance.
public struct ServiceListing: Hashable, Sendable {
    /// The key of the service.
    public let key: AnyServiceKey
    /// The scope of the service.
    public let scope: ServiceScope
    /// Whether there is an instance; one that is being made does not count.
    public let isLive: Bool
    /// Whether the instance was supplied ready-made. Its supplier owns it; the locator never removes it.
    public let isSupplied: Bool
    /// Counts the objects that the locator has made, from 1; `nil` without an object and for supplied ones.
    public let creationOrder: Int?

    /// The name of the service.
    public var name: String { key.name }
    /// The Swift type of the service.
    public var typeName: String { String(describing: key.type) }
}

/// An instance that is made before the locator and passed to it. Its maker owns it.
///
/// The registry must have the key, by `registerSupplied` or with a factory, which is then not used. A locator neither
/// removes nor disposes of a supplied instance.
public struct SuppliedService: Sendable {
    /// The key that resolves to the instance.
    public let key: AnyServiceKey
    let instance: AnyInstance

    /// Supplies an instance for a key.
    public init<Instance: Sendable>(_ key: ServiceKey<Instance>, _ instance: Instance) {
        self.key = key.erased
        self.instance = Box(instance)
    }
}

/// Observes the instances of a locator, for example to count them.
///
/// The locator calls it outside its locks, on the thread that caused the call. For one instance `created` always comes
/// before `cleared` and `removed`; calls for different instances may come at the same time.
public protocol ServiceObserver: Sendable {
    /// The factory has returned an instance, which no caller has got yet.
    func created(_ key: AnyServiceKey)
    /// The instance has been set to its default state.
    func cleared(_ key: AnyServiceKey)
    /// The instance has been removed and disposed of.
    func removed(_ key: AnyServiceKey)
}

extension ServiceObserver {
    /// Does nothing.
    public func created(_ key: AnyServiceKey) {}
    /// Does nothing.
    public func cleared(_ key: AnyServiceKey) {}
    /// Does nothing.
    public func removed(_ key: AnyServiceKey) {}
}
