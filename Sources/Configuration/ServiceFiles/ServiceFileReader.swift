import JSONDocument
import Navigation
import ServiceLocator
import Sessions

/// Reads a service file and collects its problems.
struct ServiceFileReader {
    /// The keys, in the order of messages, and the schema of each value.
    static let keys: KeyValuePairs<String, JSONDocument> = [
        "name": [
            "type": "string", "pattern": "^[a-z0-9-]{1,64}$",
            "not": ["enum": JSONDocument(ServiceFile.builtInNames.map { JSONDocument($0) })],
        ],
        "description": ["type": "string"], "schema": ["type": ["object", "boolean"]], "default": [:],
        "scope": Setting<ServiceScope>.choice.schema, "lifetime": lifetime.schema,
        "concurrency": Setting<ServiceConcurrency>.choice.schema,
        "bound_to": Setting<ServiceFile.Binding>.choice.schema, "access": Setting<ServiceFile.Access>.choice.schema,
    ]
    private static let members = keys.map(\.key) + CommandDefinition.fileKeys.map(\.key)
    // With zero the service would forget at once; ten years outlast any session.
    private static let lifetime = Setting<Duration>.duration(.seconds(1) ... .seconds(3650 * 86_400))

    private let file: JSONFile
    private(set) var problems: [ConfigurationProblem] = []
    /// The declared name, even if something else is wrong: two files with one name are always a problem.
    private(set) var name: String?
    private(set) var service: ServiceFile?

    init(_ file: JSONFile) {
        self.file = file
        read()
    }

    private mutating func read() {
        guard let members = file.document.members else {
            report("", "wrong_type", "the file holds \(file.document.kind.phrase); it must hold an object")
            return
        }
        for (member, _) in members where member != FileSchema.key && !Self.members.contains(member) {
            let question = NearestName.question(for: member, among: Self.members)
            report(member, "unknown_key", "a service file has no key \(member.quoted)\(question)")
        }
        name = readName()
        let summary = text("description")
        let schema = readSchema()
        let defaultState = readDefault(against: schema)
        let scope = value("scope", Setting<ServiceScope>.choice, orElse: "bad_choice") ?? .session
        if scope == .process { refuseWhatSessionsHave() }
        let lifetime = value("lifetime", Self.lifetime, orElse: "bad_duration")
        let concurrency = value("concurrency", Setting<ServiceConcurrency>.choice, orElse: "bad_choice")
        let boundTo = value("bound_to", Setting<ServiceFile.Binding>.choice, orElse: "bad_choice")
        let access = value("access", Setting<ServiceFile.Access>.choice, orElse: "bad_choice")

        guard let name, let schema, let defaultState, !problems.contains(where: { $0.severity == .error }) else {
            return
        }
        service = ServiceFile(
            name: name, summary: summary, schema: schema, schemaDocument: file.document[member: "schema"] ?? true,
            defaultState: defaultState, scope: scope, lifetime: lifetime,
            concurrency: concurrency ?? .lastWrite, boundTo: boundTo, access: access ?? .readWrite,
            commandsDocument: JSONDocument(
                members: (file.document.members ?? []).filter { member in
                    CommandDefinition.fileKeys.contains { $0.key == member.name }
                }), path: file.path)
    }

    private mutating func readName() -> String? {
        guard required("name") != nil, let name = text("name") else { return nil }
        guard RegisteredService.isName(name) else {
            report(
                "name", "bad_name",
                "\(name.quoted) is not a name; allowed are 1 to 64 lower-case letters, digits and hyphens"
            )
            return nil
        }
        guard !ServiceFile.builtInNames.contains(name) else {
            report("name", "reserved_name", "\(name) is the name of a built-in service; allowed is any other name")
            return nil
        }
        return name
    }

    private mutating func readSchema() -> JSONSchema? {
        guard let document = required("schema") else { return nil }
        guard document.kind == .object || document.kind == .bool else {
            report("schema", "wrong_type", "schema is \(document.kind.phrase); expected a JSON Schema (draft 7)")
            return nil
        }
        if document.bool == true || document == .emptyObject {
            report("schema", "empty_schema", "the schema allows any document at all", severity: .warning)
        }
        do {
            let schema = try JSONSchema(document)
            for warning in schema.warnings {
                report(
                    JSONPointer(["schema"]).appending(below: warning.pointer), warning.kind.rawValue, warning.detail,
                    severity: .warning)
            }
            return schema
        } catch {
            report(JSONPointer(["schema"]).appending(below: error.pointer), "bad_schema", error.detail.asClause)
            return nil
        }
    }

    private mutating func readDefault(against schema: JSONSchema?) -> JSONDocument? {
        guard let document = required("default") else { return nil }
        for violation in schema?.violations(in: document) ?? [] {
            report(
                JSONPointer(["default"]).appending(below: violation.pointer), "default_mismatch",
                "the default does not fit the schema: \(violation)")
        }
        return document
    }

    /// A document of the process does not end, belongs to no user, and is written by the admin listener alone.
    private mutating func refuseWhatSessionsHave() {
        let isHidden = file.document[member: "access"]?.string == ServiceFile.Access.hidden.rawValue
        for key in ["lifetime", "bound_to"] + (isHidden ? [] : ["access"]) where file.document[member: key] != nil {
            report(
                key, "not_of_process",
                "\(key) has no meaning with the scope process: all sessions read the one document, and the admin listener "
                    + "writes it")
        }
    }

    private mutating func value<Value>(_ member: String, _ setting: Setting<Value>, orElse code: String) -> Value? {
        guard let document = file.document[member: member] else { return nil }
        let written = WrittenValue(document)
        if let value = setting.read(written) { return value }
        report(member, code, setting.refusal(of: written, as: member))
        return nil
    }

    private mutating func text(_ member: String) -> String? {
        guard let document = file.document[member: member] else { return nil }
        if document.string == nil {
            report(member, "wrong_type", "\(member) is \(document.kind.phrase); expected a string")
        }
        return document.string
    }

    private mutating func required(_ member: String) -> JSONDocument? {
        if let document = file.document[member: member] { return document }
        report("", "missing_key", "\(member) is missing; every service file has name, schema and default")
        return nil
    }

    private mutating func report(
        _ member: String, _ code: String, _ message: String, severity: ConfigurationProblem.Severity = .error
    ) {
        report(member.isEmpty ? .root : JSONPointer([member]), code, message, severity: severity)
    }

    private mutating func report(
        _ pointer: JSONPointer, _ code: String, _ message: String, severity: ConfigurationProblem.Severity = .error
    ) {
        problems.append(
            ConfigurationProblem(
                severity, at: file.origin(of: pointer), pointer: "\(pointer)", code: code, message))
    }
}
