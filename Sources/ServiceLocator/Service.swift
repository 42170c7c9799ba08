/// What an instance implements to be told when it is cleared and when it leaves its locator.
///
/// A locator holds instances of any `Sendable` type. One that does not conform cannot be cleared, and leaves silently.
/// Both calls come outside every lock of the locator, so they may take their time and may resolve other services.
public protocol Service: AnyObject, Sendable {
    /// Goes back to the default state. Whoever holds this instance keeps it and sees the default state from now on.
    ///
    /// There is no default implementation: only the service knows what its default state is, and replacing the
    /// instance instead would leave its holders with one that nobody else sees.
    func clear() throws

    /// Gives back what the instance holds: files, connections, timers. Called once, after it has left the locator.
    /// Services are disposed of newest first, so what this one resolved when it was made is still usable here.
    func dispose()
}

extension Service {
    public func dispose() {}
}

/// One line of a locator's `listing`: a registered service and whether it lives.
public struct ServiceListing: Hashable, Sendable {
    public let key: AnyServiceKey
    public let scope: ServiceScope
    /// Whether an instance is there now. One that is still being made does not live yet.
    public let isLive: Bool
    /// Whether the instance was handed to the locator ready-made. Its supplier owns it; it is never removed.
    public let isSupplied: Bool
    /// Rises with each instance that its locator makes, from 1. `nil` when none lives, and for supplied ones.
    public let creationOrder: Int?

    public var name: String { key.name }
    public var typeName: String { String(describing: key.type) }
}

/// An instance that is there before the locator: handed over when the locator is made, owned by whoever made it.
///
/// The key has to be in the registry, by `registerSupplied` or with a factory, which is then not used. A locator
/// neither removes nor disposes of a supplied instance.
public struct SuppliedService: Sendable {
    public let key: AnyServiceKey
    let instance: AnyInstance

    public init<Instance: Sendable>(_ key: ServiceKey<Instance>, _ instance: Instance) {
        self.key = key.erased
        self.instance = Box(instance)
    }
}

/// Is told what happens to the instances of a locator, for example to count them.
///
/// The calls come on the thread that caused them and outside every lock. For one instance `created` always comes
/// before `cleared` and `removed`; calls about different instances may come at the same time.
public protocol ServiceObserver: Sendable {
    /// The factory has returned; nobody but the factory has seen the instance yet.
    func created(_ key: AnyServiceKey)
    /// The instance is in its default state again.
    func cleared(_ key: AnyServiceKey)
    /// The instance has left the locator and has been disposed of.
    func removed(_ key: AnyServiceKey)
}

extension ServiceObserver {
    public func created(_ key: AnyServiceKey) {}
    public func cleared(_ key: AnyServiceKey) {}
    public func removed(_ key: AnyServiceKey) {}
}
