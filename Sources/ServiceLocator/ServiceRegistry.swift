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

/// What a registry knows of one key. A class, because each look-up hands it on, and copying a struct of this size would
/// count five references up and down.
final class Registration: Sendable {
    let key: AnyServiceKey
    let scope: ServiceScope
    let needs: [AnyServiceKey]
    /// A `Factory` of the key's type.
    let factory: any AnyObject & Sendable
    /// The boxed instance as a `Service`, if it is one.
    let lifecycle: @Sendable (AnyInstance) -> (any Service)?

    init<Instance: Sendable>(
        _ key: ServiceKey<Instance>, scope: ServiceScope, needs: [AnyServiceKey],
        make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?
    ) {
        self.key = key.erased
        self.scope = scope
        self.needs = needs
        factory = Factory(make: make)
        if let type = Instance.self as? any Service.Type {
            lifecycle = Self.lifecycle(of: type)
        } else {
            // A protocol, or a class with subclasses that conform: only the instance can tell.
            lifecycle = { unbox($0, as: Instance.self) as? any Service }
        }
    }

    /// Finds the conformance once, here, and not each time that an instance leaves.
    private static func lifecycle<Instance: Service>(of type: Instance.Type)
        -> @Sendable (AnyInstance) -> (any Service)?
    {
        { unbox($0, as: Instance.self) }
    }
}

/// How instances of one key are made.
final class Factory<Instance: Sendable>: Sendable {
    /// `nil` for keys whose instances are supplied.
    let make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?

    init(make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?) { self.make = make }
}

/// Where the instance of a service lives.
public enum ServiceScope: Hashable, Sendable {
    /// One instance for the whole process: in the locator that has no parent, seen by all below it.
    /// Such a service may not need one of `session`: it outlives every session, and would hold one of them for all.
    case process

    /// One instance for each locator.
    case session
}
