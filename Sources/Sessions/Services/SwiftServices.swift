import ServiceLocator

/// The services in Swift that a program adds to the built-in ones.
package struct SwiftServices: Sendable {
    package private(set) var definitions: [ServiceDefinition] = []
    private var registrations: [@Sendable (inout ServiceRegistryBuilder) -> Void] = []

    package init() {}

    /// A service that each session has.
    ///
    /// - Parameter name: another one than the type's, for several services of one type.
    package mutating func add<Object: SessionService>(_ type: Object.Type, named name: String? = nil) {
        definitions.append(ServiceDefinition(type, named: name))
    }

    /// A service of the process, made when it is first resolved.
    package mutating func add<Instance: Sendable>(
        _ key: ServiceKey<Instance>, _ make: @escaping @Sendable (borrowing ServiceResolver) throws -> Instance
    ) {
        registrations.append { $0.register(key, scope: .process, make) }
    }

    /// Registers the services of the process.
    package func register(in builder: inout ServiceRegistryBuilder) {
        for register in registrations { register(&builder) }
    }
}
