/// All services of a program: checked as a whole, never changed again, shared by all locators.
///
/// `ServiceRegistryBuilder` makes it. It holds no instances, so it may live as long as the program.
public final class ServiceRegistry: Sendable {
    /// The part of a registration that a look-up needs, without a counted reference.
    struct Place: Sendable {
        /// The index in `registrations`, and in the table of each locator.
        let index: Int
        let type: ObjectIdentifier
        let scope: ServiceScope
    }
    /// In the order of registration.
    let registrations: [Registration]
    /// By name alone, because a name has one type in a registry.
    private let places: [String: Place]

    /// Takes registrations that the builder has checked: names are unique.
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

    /// All keys in the order of registration.
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

/// The registration of one key. A class, because each look-up passes it on, and copying a struct of this size would
/// count five references.
final class Registration: Sendable {
    let key: AnyServiceKey
    let scope: ServiceScope
    let needs: [AnyServiceKey]
    /// A `Factory` of the type of the key.
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
            // A protocol, or a class that may have conforming subclasses: only the instance can tell.
            lifecycle = { unbox($0, as: Instance.self) as? any Service }
        }
    }

    /// Looks the conformance up once, and not each time that an instance is removed.
    private static func lifecycle<Instance: Service>(of type: Instance.Type)
        -> @Sendable (AnyInstance) -> (any Service)?
    {
        { unbox($0, as: Instance.self) }
    }
}

/// Makes the instances of one key.
final class Factory<Instance: Sendable>: Sendable {
    /// `nil` for keys whose instances are supplied.
    let make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?

    init(make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?) { self.make = make }
}

/// How many instances of a service there are.
public enum ServiceScope: String, Hashable, Sendable, CaseIterable {
    /// One instance for each locator.
    case session

    /// One instance for the process, held by the locator that has no parent and used by all below it. Such a service
    /// cannot need a service of `session`: it outlives every session.
    case process
}
