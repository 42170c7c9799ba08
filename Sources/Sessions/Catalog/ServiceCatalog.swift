import Glibc
import JSONDocument
import Navigation
import ServiceLocator

/// Every service that a session can have, frozen at start and at each reload.
package final class ServiceCatalog: Sendable {
    /// In the order of definition.
    package let services: [RegisteredService]
    /// The registry for the locators of sessions.
    package let registry: ServiceRegistry
    private let indexes: [String: Int]
    /// Also those of services that are not declared.
    package let names: ServiceNames
    /// By their places.
    private let places: [RegisteredService]
    /// The services in Swift that the program has added.
    package let added: SwiftServices
    /// The names of the services that no client may know of.
    package let hidden: Set<String>
    /// Whether any service has the hook.
    let hasCreated, hasSignedOut, hasEnded: Bool

    /// - Parameters:
    ///   - definitions: services of code.
    ///   - declarations: services of configuration.
    ///   - added: services in Swift that the program adds.
    ///   - names: of the catalogue that this one replaces.
    /// - Throws: ``ServiceCatalogError`` with every problem.
    package init(
        definitions: [ServiceDefinition] = ServiceDefinition.builtIn, declarations: [ServiceDefinition] = [],
        adding added: SwiftServices = SwiftServices(), names: ServiceNames = ServiceNames()
    ) throws(ServiceCatalogError) {
        let all = definitions + added.definitions + declarations
        self.added = added
        self.names = names
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
                services.append(try Self.check(definition, names))
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
        hidden = Set(services.filter(\.isHidden).map(\.name))
        self.services = services
        self.indexes = indexes
        let byPlace = Dictionary(uniqueKeysWithValues: services.map { ($0.index, $0) })
        let end = services.map { Int($0.index) + 1 }.max() ?? 0
        places = (0..<end).map { byPlace[UInt16($0)] ?? .undeclared(at: UInt16($0), names) }
    }

    /// The service at a place of documents, declared or not.
    subscript(place: UInt16) -> RegisteredService {
        Int(place) < places.count ? places[Int(place)] : .undeclared(at: place, names)
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

    /// - Throws: ``SessionError/notRegistered(service:)``, also for a service that the caller may not know of.
    package func service(
        named name: String, for caller: ServiceCaller = .admin
    ) throws(SessionError) -> RegisteredService {
        guard let service = self[name], service.isShown(to: caller) else { throw .notRegistered(service: name) }
        return service
    }

    /// The services that a caller may know of.
    package func services(for caller: ServiceCaller) -> [RegisteredService] {
        services.filter { $0.isShown(to: caller) }
    }

    private static func check(
        _ definition: ServiceDefinition, _ names: ServiceNames
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
        let index = names[definition.name]
        return RegisteredService(
            definition, index: index, schema: schema, commands: commands, live: names.live(index))
    }
}

extension RegisteredService {
    private static let anySchema = try? JSONSchema(true)

    /// A service that is known by its name alone.
    fileprivate static func undeclared(at place: UInt16, _ names: ServiceNames) -> RegisteredService {
        guard let schema = anySchema else { preconditionFailure("`true` is a schema") }
        return RegisteredService(
            ServiceDefinition(declared: names[place]), index: place, schema: schema, commands: [], isDeclared: false,
            live: names.live(place))
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
            name: name, schema: schema, isReadOnly: !isOpenToFlows, isHidden: isHidden,
            // What commands change is shared on purpose.
            isOwnable: isOwnable && commands.isEmpty,
            commands: commands.map {
                .init(
                    name: $0.name, input: $0.input, output: $0.output ?? false, waits: $0.waits,
                    services: $0.definition?.services ?? [], languages: $0.definition?.languages ?? [])
            }, isOfProcess: scope == .process)
    }
}
