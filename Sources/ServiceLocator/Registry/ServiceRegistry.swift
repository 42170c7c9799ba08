/// Every service that a program knows, frozen: checked as a whole, never changed again, shared by all locators.
///
/// Made with `ServiceRegistryBuilder`. It holds no instances, so it may live as long as the program does.
public final class ServiceRegistry: Sendable {
    /// What a look-up needs of a registration, without a reference to count.
    struct Place: Sendable {
        /// In `registrations`, and in the table of each locator.
        let index: Int
        let type: ObjectIdentifier
        let scope: ServiceScope
    }
    /// In the order of registration.
    let registrations: [Registration]
    /// By name alone, since a name has one type in a registry.
    private let places: [String: Place]

    /// Takes what the builder has checked: names are unique.
    init(checked registrations: [Registration]) {
        self.registrations = registrations
        var places = [String: Place](minimumCapacity: registrations.count)
        for (index, registration) in registrations.enumerated() {
            let type = ObjectIdentifier(registration.key.type)
            places[registration.key.name] = Place(index: index, type: type, scope: registration.scope)
        }
        self.places = places
    }

    func place(named name: String) -> Place? { places[name] }

    /// All keys, in the order in which they were registered.
    public var keys: [AnyServiceKey] { registrations.map(\.key) }

    /// The key of that name, or `nil` when none is registered.
    public func key(named name: String) -> AnyServiceKey? {
        places[name].map { registrations[$0.index].key }
    }

    /// The scope of that name, or `nil` when none is registered.
    public func scope(named name: String) -> ServiceScope? {
        places[name]?.scope
    }
}
