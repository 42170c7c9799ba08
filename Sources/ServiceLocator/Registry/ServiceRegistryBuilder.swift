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
    /// What `replace` did not find; a problem for `freeze` to tell.
    private(set) var misplacedReplacements: [String] = []

    /// Starts without services.
    public init() {}

    /// Starts from what a registry holds, so that a test can `replace` some of it. The registry does not change.
    public init(_ registry: ServiceRegistry) {
        registrations = registry.registrations
    }

    /// Says how the service is made when it is first asked for.
    ///
    /// - Parameters:
    ///   - scope: one instance for each locator, or one for the process.
    ///   - needs: what the factory resolves. Declared needs are checked by `freeze`; those left out are found when
    ///     the factory asks for them.
    ///   - make: runs outside every lock, on the thread of the first caller. When it throws, that caller and those
    ///     who waited get the error, and the next access tries again.
    public mutating func register<Instance: Sendable>(
        _ key: ServiceKey<Instance>, scope: ServiceScope = .session, needs: [AnyServiceKey] = [],
        _ make: @escaping @Sendable (borrowing ServiceResolver) throws -> Instance
    ) {
        registrations.append(Registration(key, scope: scope, needs: needs, make: make))
    }

    /// Names a service that is handed to each locator ready-made, in `supplying:`.
    public mutating func registerSupplied<Instance: Sendable>(
        _ key: ServiceKey<Instance>, scope: ServiceScope = .session
    ) {
        registrations.append(Registration(key, scope: scope, needs: [], make: nil))
    }

    /// Makes the service in another way from here on; its place and scope stay. Meant for tests.
    ///
    /// Replacing what is not registered is a problem that `freeze` tells: a test that replaces a service which has
    /// been renamed would otherwise go on with the real one.
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

    /// Checks everything and gives the registry.
    ///
    /// - Throws: `ServiceRegistryError` with all problems at once.
    public func freeze() throws(ServiceRegistryError) -> ServiceRegistry {
        let problems = RegistryCheck(registrations, misplacedReplacements: misplacedReplacements).problems()
        guard problems.isEmpty else { throw ServiceRegistryError(problems: problems) }
        return ServiceRegistry(checked: registrations)
    }
}
