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
