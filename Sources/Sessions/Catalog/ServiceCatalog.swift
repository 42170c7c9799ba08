import Glibc
import JSONDocument
import Navigation
import ServiceLocator

/// Every service that a session can have, frozen at start.
package final class ServiceCatalog: Sendable {
    /// In the order of definition. The index is the service's ``RegisteredService/index``.
    package let services: [RegisteredService]
    /// The registry for the locators of sessions.
    package let registry: ServiceRegistry
    private let indexes: [String: Int]
    /// The services in Swift that the program has added.
    package let added: SwiftServices
    /// Whether any service has the hook.
    let hasCreated, hasSignedOut, hasEnded: Bool

    /// - Parameters:
    ///   - definitions: services of code.
    ///   - declarations: services of configuration.
    ///   - added: services in Swift that the program adds.
    /// - Throws: ``ServiceCatalogError`` with every problem.
    package init(
        definitions: [ServiceDefinition] = ServiceDefinition.builtIn, declarations: [ServiceDefinition] = [],
        adding added: SwiftServices = SwiftServices()
    ) throws(ServiceCatalogError) {
        let all = definitions + added.definitions + declarations
        // A document keeps its service's index in 16 bits.
        precondition(all.count <= Int(UInt16.max), "a catalogue has at most 65,535 services")
        self.added = added
        var builder = ServiceRegistryBuilder()
        builder.registerSupplied(UnitOfWork.key)
        added.register(in: &builder)
        var problems: [String] = []
        var services: [RegisteredService] = []
        var indexes: [String: Int] = [:]
        for definition in all {
            definition.register(&builder)
            guard indexes[definition.name] == nil else {
                problems.append("Service '\(definition.name)' is defined twice: give one of the two another name.")
                continue
            }
            do throws(ServiceCatalogError) {
                indexes[definition.name] = services.count
                services.append(try Self.check(definition, index: UInt16(services.count)))
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw ServiceCatalogError(problems: problems) }
        do {
            registry = try builder.freeze()
        } catch {
            throw ServiceCatalogError(problems: error.problems.map(\.description))
        }
        hasCreated = services.contains { $0.hooks.create != nil }
        hasSignedOut = services.contains { $0.hooks.signedOut != nil }
        hasEnded = services.contains { $0.hooks.ended != nil }
        self.services = services
        self.indexes = indexes
    }

    /// The service of that name; `nil` when there is none.
    package subscript(name: String) -> RegisteredService? {
        indexes[name].map { services[$0] }
    }

    /// The service whose name has these bytes, without making a string. There are few services, so comparing each is
    /// faster than hashing.
    package func service(named name: UnsafeRawBufferPointer) -> RegisteredService? {
        guard let start = name.baseAddress else { return nil }
        for service in services
        where service.nameBytes.count == name.count && memcmp(service.nameBytes, start, name.count) == 0 {
            return service
        }
        return nil
    }

    /// - Throws: ``SessionError/notRegistered(service:)``.
    package func service(named name: String) throws(SessionError) -> RegisteredService {
        guard let service = self[name] else { throw .notRegistered(service: name) }
        return service
    }

    private static func check(
        _ definition: ServiceDefinition, index: UInt16
    ) throws(ServiceCatalogError) -> RegisteredService {
        let (commands, problems) = commands(of: definition)
        guard definition.problems.isEmpty, problems.isEmpty else {
            throw ServiceCatalogError(problems: definition.problems + problems)
        }
        let schema: JSONSchema
        do {
            schema = try JSONSchema(definition.schema)
        } catch {
            throw ServiceCatalogError(problems: ["The schema of service '\(definition.name)' is not usable: \(error)"])
        }
        let violations = schema.violations(in: definition.default)
        guard violations.isEmpty else {
            throw ServiceCatalogError(
                problems: violations.map {
                    "The default of service '\(definition.name)' does not fit its schema: "
                        + "\($0.pointer.isEmpty ? "" : "\($0.pointer): ")\($0.detail)"
                })
        }
        return RegisteredService(definition, index: index, schema: schema, commands: commands)
    }
}

/// Why a catalogue cannot be frozen: every problem, so that one start of the program shows all of them.
package struct ServiceCatalogError: Error, CustomStringConvertible {
    package let problems: [String]
    package var description: String { problems.joined(separator: "\n") }
}

extension ServiceCatalog {
    /// The services that flows are checked against. The coordinator is left out: a flow that read the journeys would
    /// read itself.
    package var directory: ServiceDirectory {
        ServiceDirectory(services.filter { $0.name != CoordinatorService.name }.map(\.entry))
    }
}

extension ServiceDefinition {
    /// What flows are checked against.
    package var entry: ServiceDirectory.Entry {
        .init(
            name: name, schema: schema, isReadOnly: !isOpenToFlows, isOwnable: isOwnable,
            commands: commands.map {
                .init(name: $0.name, input: $0.input, output: $0.output ?? false, waits: $0.waits)
            })
    }
}
