import Configuration
import Glibc
import JSONDocument

/// What tells a program a configuration that a test has made: files, and variables for what no file may have.
struct ProgramFiles {
    /// By their paths in a folder.
    let texts: [String: String]
    let environment: [String: String]

    /// The path of the configuration file.
    static let configuration = "concierge.json"

    /// Nil for secrets without a file, which only an application in this process can be given.
    init?(_ configuration: Configuration, services: [ServiceFile], flows: [String]) throws {
        guard configuration.tasks.names.isEmpty,
            configuration.encryptionKeys == nil || configuration.encryptionKeysFile != nil
        else { return nil }
        var environment = ["PATH": getenv("PATH").map { String(cString: $0) } ?? ""]
        var (members, groups) = ([(String, JSONDocument)](), [String: [(String, JSONDocument)]]())
        let defaults = Configuration()
        for key in ConfigurationKey.all where key.show(configuration) != key.show(defaults) {
            guard !key.isSecret else { continue }
            let value = try JSONDocument(parsing: key.show(configuration))
            let path = key.path.split(separator: ".", maxSplits: 1).map(String.init)
            if path.count == 1 {
                members.append((path[0], value))
            } else {
                groups[path[0], default: []].append((path[1], value))
            }
        }
        members += groups.map { ($0.key, JSONDocument(members: $0.value)) }
        environment["CONCIERGE_ADMIN_KEY"] = configuration.admin.key?.revealed
        var texts = [Self.configuration: "\(JSONDocument(members: members))"]
        for service in services { texts["services/\(service.name).json"] = service.declaration }
        for (number, flow) in flows.enumerated() { texts["flows/\(number).json"] = flow }
        self.texts = texts
        self.environment = environment
    }
}

extension ServiceFile {
    /// The file that declares it.
    fileprivate var declaration: String {
        var members: [(String, JSONDocument)] = [
            ("name", JSONDocument(name)), ("schema", schemaDocument), ("default", defaultState),
            ("concurrency", JSONDocument(concurrency.rawValue)),
        ]
        if scope == .process { members.append(("scope", "process")) }
        if scope == .session || access == .hidden { members.append(("access", JSONDocument(access.rawValue))) }
        if let summary { members.append(("description", JSONDocument(summary))) }
        if let lifetime { members.append(("lifetime", JSONDocument("\(lifetime.milliseconds)ms"))) }
        if let boundTo { members.append(("bound_to", JSONDocument(boundTo.rawValue))) }
        members += (commandsDocument.members ?? []).map { ($0.name, $0.value) }
        return "\(JSONDocument(members: members))"
    }
}
