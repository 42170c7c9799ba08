/// An instance that is there before the locator: handed over when the locator is made, owned by whoever made it.
///
/// The key has to be in the registry, by `registerSupplied` or with a factory, which is then not used. A locator
/// neither removes nor disposes of a supplied instance.
public struct SuppliedService: Sendable {
    /// The key that the instance is found by.
    public let key: AnyServiceKey
    let instance: AnyInstance

    /// Supplies an instance for a key.
    public init<Instance: Sendable>(_ key: ServiceKey<Instance>, _ instance: Instance) {
        self.key = key.erased
        self.instance = Box(instance)
    }
}
