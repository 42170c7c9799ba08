import JSONDocument
import Navigation

/// The JSON Schemas (draft 7) of the three kinds of files, by which editors complete and check them. They are made from
/// the tables that the readers check keys against.
package enum FileSchema: String, Sendable, CaseIterable {
    case configuration, service, flow

    /// The key at the top of a file that names its schema; for editors only.
    static let key = "$schema"

    package var document: JSONDocument {
        switch self {
        case .configuration: Self.configurationDocument
        case .service: Self.serviceDocument
        case .flow: FlowKeys.fileSchema
        }
    }

    private static var serviceDocument: JSONDocument {
        let keys = ServiceFileReader.keys.map { (name: $0.key, value: $0.value) }
        let commands = CommandDefinition.fileKeys.map { (name: $0.key, value: $0.value) }
        let file = file("A service", keys + commands, required: ["name", "schema", "default"])
        // What commands refer to, directly or not.
        let all = FlowKeys.definitions
        var needed: Set<String> = []
        var rest = commands.map(\.value)
        while let next = rest.popLast() {
            if let name = next[member: "$ref"]?.string.map({ String($0.dropFirst("#/definitions/".count)) }),
                needed.insert(name).inserted
            {
                rest += all.filter { $0.name == name }.map(\.value)
            }
            rest += (next.elements ?? []) + (next.members ?? []).map(\.value)
        }
        let definitions = JSONDocument(members: all.filter { needed.contains($0.name) })
        return JSONDocument(members: (file.members ?? []) + [("definitions", definitions)])
    }

    private static var configurationDocument: JSONDocument {
        var members = ConfigurationKey.all.filter { !$0.path.contains(".") }.map { ($0.path, property($0)) }
        for group in ConfigurationKey.groups {
            let keys = ConfigurationKey.all.filter { $0.path.hasPrefix("\(group).") }
            members.append((group, object(keys.map { (name(of: $0), property($0)) })))
        }
        let task = ConfigurationKey.ofTask("name").map { (name(of: $0), property($0)) }
        members.append((ConfigurationKey.taskGroup, ["type": "object", "additionalProperties": object(task)]))
        return file("The configuration", members)
    }

    private static func name(of key: ConfigurationKey) -> String {
        key.path.split(separator: ".").last.map(String.init) ?? key.path
    }

    private static func property(_ key: ConfigurationKey) -> JSONDocument {
        JSONDocument(members: (key.schema.members ?? []) + [("description", JSONDocument(key.meaning))])
    }

    private static func object(
        _ properties: [(name: String, value: JSONDocument)], required: [String] = []
    ) -> JSONDocument {
        [
            "type": "object", "properties": JSONDocument(members: properties), "additionalProperties": false,
            "required": JSONDocument(required.map { JSONDocument($0) }),
        ]
    }

    private static func file(
        _ title: String, _ properties: [(name: String, value: JSONDocument)], required: [String] = []
    ) -> JSONDocument {
        let members =
            object(properties + [(name: key, value: ["type": "string"] as JSONDocument)], required: required).members
            ?? []
        return JSONDocument(
            members: members + [
                ("$schema", "http://json-schema.org/draft-07/schema#"), ("title", JSONDocument(title)),
            ])
    }
}
