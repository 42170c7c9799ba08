/// Collects registrations, then freezes them into a registry that locators use.
///
/// ```swift
/// var builder = ServiceRegistryBuilder()
/// builder.register(clock, scope: .process) { _ in SystemClock() }
/// builder.register(profile, needs: [clock.erased]) { resolver in Profile(clock: try resolver.resolve(clock)) }
/// let registry = try builder.freeze()
/// ```
public struct ServiceRegistryBuilder: Sendable {
    private(set) var registrations: [Registration] = []
    /// The keys that `replace` did not find; `freeze` reports them.
    private(set) var misplacedReplacements: [String] = []

    /// A builder without registrations.
    public init() {}

    /// Starts with the registrations of a registry, so that a test can `replace` some. The registry does not change.
    public init(_ registry: ServiceRegistry) {
        registrations = registry.registrations
    }

    /// Registers a service and the factory that makes it when it is first resolved.
    ///
    /// - Parameters:
    ///   - scope: one instance for each locator, or one for the process.
    ///   - needs: the services that the factory resolves. `freeze` checks declared needs; the others fail when the
    ///     factory resolves them.
    ///   - make: runs outside every lock, on the thread of the first caller. When it throws, that caller and all that
    ///     waited get the error, and the next `resolve` tries again.
    public mutating func register<Instance: Sendable>(
        _ key: ServiceKey<Instance>, scope: ServiceScope = .session, needs: [AnyServiceKey] = [],
        _ make: @escaping @Sendable (borrowing ServiceResolver) throws -> Instance
    ) {
        registrations.append(Registration(key, scope: scope, needs: needs, make: make))
    }

    /// Registers a service whose instance each locator gets ready-made, in `supplying:`.
    public mutating func registerSupplied<Instance: Sendable>(
        _ key: ServiceKey<Instance>, scope: ServiceScope = .session
    ) {
        registrations.append(Registration(key, scope: scope, needs: [], make: nil))
    }

    /// Replaces the factory of a service; its place in the order and its scope stay. Meant for tests.
    ///
    /// `freeze` reports a key that is not registered: otherwise a test would use the real service after a renaming.
    public mutating func replace<Instance: Sendable>(
        _ key: ServiceKey<Instance>, needs: [AnyServiceKey] = [],
        _ make: @escaping @Sendable (borrowing ServiceResolver) throws -> Instance
    ) {
        guard let index = registrations.firstIndex(where: { $0.key == key.erased }) else {
            misplacedReplacements.append(key.name)
            return
        }
        registrations[index] = Registration(key, scope: registrations[index].scope, needs: needs, make: make)
    }

    /// Checks all registrations and makes the registry.
    ///
    /// - Throws: `ServiceRegistryError` with all problems at once.
    public func freeze() throws(ServiceRegistryError) -> ServiceRegistry {
        let problems = RegistryCheck(registrations, misplacedReplacements: misplacedReplacements).problems()
        guard problems.isEmpty else { throw ServiceRegistryError(problems: problems) }
        return ServiceRegistry(checked: registrations)
    }
}

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
