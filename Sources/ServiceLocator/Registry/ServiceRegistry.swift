/// Every service that a program knows, frozen: checked as a whole, never changed again, shared by all locators.
///
/// Made with `ServiceRegistryBuilder`. It holds no instances, so it may live as long as the program does.
public final class ServiceRegistry: Sendable {
    /// In the order of registration. The position of a key is its index in the table of each locator.
    let registrations: [Registration]
    /// By name, since a name has one type in a registry.
    let indexes: [String: Int]

    /// Takes what the builder has checked: names are unique.
    init(checked registrations: [Registration]) {
        self.registrations = registrations
        var indexes = [String: Int](minimumCapacity: registrations.count)
        for (index, registration) in registrations.enumerated() { indexes[registration.key.name] = index }
        self.indexes = indexes
    }

    /// All keys, in the order in which they were registered.
    public var keys: [AnyServiceKey] { registrations.map(\.key) }

    /// The key of that name, or `nil` when none is registered.
    public func key(named name: String) -> AnyServiceKey? {
        indexes[name].map { registrations[$0].key }
    }

    /// The scope of that name, or `nil` when none is registered.
    public func scope(named name: String) -> ServiceScope? {
        indexes[name].map { registrations[$0].scope }
    }
}
