import Navigation
import Sessions

/// The effective configuration, the sources of its values, its services and flows, and all problems.
package struct LoadedConfiguration: Sendable {
    /// Only valid when ``hasErrors`` is false: keys with a bad value have their default.
    package var configuration = Configuration()
    /// The source of each value, by the path of the key. Missing keys have their default.
    package var origins: [String: ValueOrigin] = [:]
    /// The file that was read, if any.
    package var file: String?
    package var services: [ServiceFile] = []
    /// Services in Swift that the program adds.
    package var added = SwiftServices()
    /// The number of service files, including bad ones.
    package var serviceFileCount = 0
    /// Empty when a flow file has an error.
    package var flows = FlowCatalog.empty
    /// The number of flow files, including bad ones.
    package var flowFileCount = 0
    package var problems: [ConfigurationProblem] = []
    /// The admin listener of another server that commands talk to: `CONCIERGE_URL`.
    package var clientURL: String?
    /// Reads all files again, with the same environment and flags. Nil for one that no files are behind.
    package var again: (@Sendable () -> LoadedConfiguration)?

    /// All services.
    ///
    /// - Parameter names: of the catalogue that this one replaces.
    package func catalog(names: ServiceNames = ServiceNames()) throws(ServiceCatalogError) -> ServiceCatalog {
        try ServiceCatalog(declarations: services.map(ServiceDefinition.init), adding: added, names: names)
    }

    package var hasErrors: Bool { problems.contains { $0.severity == .error } }

    package func origin(of path: String) -> ValueOrigin { origins[path] ?? .builtIn }

    /// Adds a problem of a key.
    /// - Parameter others: keys that need this one: if it is missing, the problem is where one of them was written.
    mutating func report(
        _ code: String, _ key: String, _ message: String, missedBy others: [String] = [],
        severity: ConfigurationProblem.Severity = .error
    ) {
        let origin = ([key] + others).compactMap { origins[$0] }.first ?? .builtIn
        problems.append(
            ConfigurationProblem(
                severity, at: origin, pointer: ConfigurationKey.pointer(of: key), code: code, message))
    }

    /// The value in the file that a key names. A problem is added if the file cannot be read, or does not hold what is
    /// allowed. It does not show what the file holds.
    /// - Parameter limit: far more than such a file has: a longer one is the wrong one.
    mutating func content<Value>(
        of path: String, _ allowed: String, named key: String, with files: FileReader,
        limit: Int = 4096, read: ([UInt8]) -> Value?
    ) -> Value? {
        do {
            if let value = read(try files.read(path, limit: limit)) { return value }
            report("bad_value", key, "what \(path) holds is not allowed (not shown); allowed is \(allowed)")
        } catch {
            report(error.code, key, "\(error)")
        }
        return nil
    }
}

/// The effective configuration as JSON, in the order of the reference. Secrets are masked.
package enum ConfigurationReport {
    package static func json(of loaded: LoadedConfiguration) -> String {
        object(indent: "", tasks: loaded.configuration.tasks.names) { $0.show(loaded.configuration) } + "\n"
    }

    /// `{"configuration": …, "sources": {"port": "flag --port", …}}`.
    package static func jsonWithSources(of loaded: LoadedConfiguration) -> String {
        let tasks = loaded.configuration.tasks.names
        let values = object(indent: "  ", tasks: tasks) { $0.show(loaded.configuration) }
        let sources = (ConfigurationKey.all + tasks.flatMap(ConfigurationKey.ofTask(_:))).map { key in
            "    \(key.path.inJSON): \((loaded.origin(of: key.path).description).inJSON)"
        }
        return "{\n  \"configuration\": \(values),\n  \"sources\": {\n\(sources.joined(separator: ",\n"))\n  }\n}\n"
    }

    /// Keys with a dot in their path stand in the object of their group.
    ///
    /// - Parameter tasks: the names of tasks that are sent.
    private static func object(
        indent: String, tasks: [String], value: (ConfigurationKey) -> String
    ) -> String {
        func lines(of keys: [ConfigurationKey], in group: String, _ indent: String) -> [String] {
            keys.filter { $0.path.hasPrefix(group) }.map { key in
                "\(indent)\(String(key.path.dropFirst(group.count)).inJSON): \(value(key))"
            }
        }
        let all = ConfigurationKey.all
        var members = lines(of: all.filter { !$0.path.contains(".") }, in: "", "\(indent)  ")
        members += ConfigurationKey.groups.map { group in
            let inner = lines(of: all, in: "\(group).", "\(indent)    ").joined(separator: ",\n")
            return "\(indent)  \(group.inJSON): {\n\(inner)\n\(indent)  }"
        }
        if !tasks.isEmpty {
            let items = tasks.map { name in
                let keys = lines(of: ConfigurationKey.ofTask(name), in: "tasks.\(name).", "")
                return "\(indent)    \(name.inJSON): {\(keys.joined(separator: ", "))}"
            }
            members.append("\(indent)  \"tasks\": {\n\(items.joined(separator: ",\n"))\n\(indent)  }")
        }
        return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
    }
}

/// The table of all keys for `config/README.md`, generated from the keys.
package enum ConfigurationReference {
    package static var markdown: String {
        let rows = (ConfigurationKey.all + ConfigurationKey.ofTask("<name>")).map { key in
            "| `\(key.path)` | \(key.defaultText) | \(cell(key.allowed)) | \(cell(key.meaning)) |"
        }
        let head = ["| key | default | allowed | meaning |", "|---|---|---|---|"]
        return (head + rows).joined(separator: "\n") + "\n"
    }

    private static func cell(_ text: String) -> String {
        text.map { $0 == "|" ? "\\|" : String($0) }.joined()
    }
}
