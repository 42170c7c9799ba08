import FlowTools
import JSONDocument
import Navigation
import ServiceLocator
import Sessions

/// A document service that a file of the services directory declares. It needs no code.
package struct ServiceFile: Sendable {
    /// When the service's state ends before its session.
    package enum Binding: String, Sendable, CaseIterable {
        /// Signing out removes the service from the session.
        case user
    }

    /// Who may read and write the service.
    package enum Access: String, Sendable, CaseIterable {
        /// The session's own client, flows, and the admin listener.
        case readWrite = "read_write"
        /// Commands, flows and the admin listener. The client can rely on the state, and cannot forge it.
        case readOnly = "read_only"
        /// Flows and the admin listener, and nobody else knows of it.
        case hidden
    }

    /// As in a path: `basket`.
    package let name: String
    package let summary: String?
    package let schema: JSONSchema
    /// The source of `schema`.
    package let schemaDocument: JSONDocument
    /// The state before the first write and after clearing; it fits `schema`.
    package let defaultState: JSONDocument
    /// Whether each session has one, or the process one for all, which the admin listener writes.
    package let scope: ServiceScope
    /// The lifetime of an instance from its creation; `nil` for that of the session.
    package let lifetime: Duration?
    package let concurrency: ServiceConcurrency
    package let boundTo: Binding?
    package let access: Access
    /// The source of ``commands``: the keys of the file that they need.
    package var commandsDocument = JSONDocument.emptyObject
    package internal(set) var commands: [CommandDefinition] = []
    /// The path of the file, for messages.
    package let path: String

    /// Names of the program's own services.
    package static let builtInNames = ["profile", "temporary-profile", "quote", "user", "coordinator"]
}

extension ServiceFile {
    /// A declaration by code instead of a file.
    /// - Throws: `JSONSchemaError` when `schema` is not a schema.
    package init(
        name: String, schema: JSONDocument = true, default: JSONDocument = .emptyObject,
        scope: ServiceScope = .session, lifetime: Duration? = nil, concurrency: ServiceConcurrency = .lastWrite,
        boundTo: Binding? = nil, access: Access = .readWrite
    ) throws(JSONSchemaError) {
        self.init(
            name: name, summary: nil, schema: try JSONSchema(schema), schemaDocument: schema, defaultState: `default`,
            scope: scope, lifetime: lifetime, concurrency: concurrency, boundTo: boundTo, access: access,
            path: "")
    }
}

extension ServiceDefinition {
    package init(_ file: ServiceFile) {
        self.init(
            declared: file.name, schema: file.schemaDocument, default: file.defaultState,
            scope: file.scope, lifetime: file.lifetime?.milliseconds,
            concurrency: file.concurrency,
            isUserBound: file.boundTo == .user, isReadOnly: file.access == .readOnly,
            isHidden: file.access == .hidden, commands: file.commands)
    }
}

extension LoadedConfiguration {
    /// Reads every `*.json` of the services directory, in the order of their names.
    ///
    /// - Returns: every declared name, also of files with a mistake.
    mutating func readServices(in directory: String, with files: FileReader) -> [String] {
        let paths: [String]
        do {
            paths = try files.jsonFiles(in: directory)
        } catch {
            report(error.code, "services", "\(error)")
            return []
        }
        serviceFileCount = paths.count
        return declareServices(
            paths.map { path in
                Result { () throws(ConfigurationProblem) in
                    try JSONFile(reading: PathText.join(directory, path), with: files)
                }
            })
    }

    /// Reads what stands in service files, of which the first is `/services/0`.
    package static func reading(services documents: [JSONDocument], adding added: SwiftServices) -> LoadedConfiguration
    {
        var loaded = LoadedConfiguration(added: added)
        _ = loaded.declareServices(
            documents.enumerated().map { place, document in
                Result { () throws(ConfigurationProblem) in
                    try JSONFile(path: "/services/\(place)", bytes: document.serialized())
                }
            })
        return loaded
    }

    private mutating func declareServices(_ files: [Result<JSONFile, ConfigurationProblem>]) -> [String] {
        var firstUse = Dictionary(
            added.definitions.map { ($0.name, "the program") }, uniquingKeysWith: { first, _ in first })
        var names: [String] = []
        var withCommands: [(place: Int, file: JSONFile)] = []
        for result in files {
            let file: JSONFile
            do {
                file = try result.get()
            } catch {
                problems.append(error)
                continue
            }
            let reader = ServiceFileReader(file)
            problems += reader.problems
            if let declared = reader.name {
                if let first = firstUse[declared] {
                    problems.append(
                        ConfigurationProblem(
                            at: file.origin(of: JSONPointer(["name"])), pointer: "/name", code: "duplicate_name",
                            "\(declared) is declared in \(first) already; allowed is a name of its own"))
                    continue
                }
                firstUse[declared] = file.path
                names.append(declared)
            }
            guard let service = reader.service else { continue }
            if service.commandsDocument.count > 0 { withCommands.append((services.count, file)) }
            services.append(service)
        }
        // They may name any of the services.
        let read = withCommands.map { readCommands(of: services[$0.place], in: $0.file, beside: names) }
        for (place, commands) in zip(withCommands.map(\.place), read) { services[place].commands = commands }
        return names
    }

    private mutating func readCommands(
        of service: ServiceFile, in file: JSONFile, beside names: [String]
    ) -> [CommandDefinition] {
        var reader = FlowReader(
            file: file.path, source: file.bytes, services: .seen(by: service, among: services, adding: added, names),
            isOfService: true, zone: CalendarZone.installed(named:))
        let commands = reader.commands(of: service.commandsDocument)
        problems += reader.problems.map { FlowProblemPlaces.located($0, .success(file)) }
        return commands
    }
}

extension ServiceDirectory {
    /// The services that the commands of a file may use. Those of the process are called without a session, and change
    /// their own document alone.
    fileprivate static func seen(
        by service: ServiceFile, among files: [ServiceFile], adding added: SwiftServices, _ names: [String]
    ) -> ServiceDirectory {
        guard service.scope == .process else { return .declared(by: files, adding: added, alsoNamed: names) }
        let known = files.filter { $0.scope == .process }.map { file in
            Entry(name: file.name, schema: file.schemaDocument, isReadOnly: file.name != service.name)
        }
        let readable = Set(files.map(\.name))
        return ServiceDirectory(known + names.filter { !readable.contains($0) }.map { Entry(name: $0) })
    }
}
