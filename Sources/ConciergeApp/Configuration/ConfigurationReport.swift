/// The effective configuration as JSON, in the order of the reference, with stars in place of secrets.
package enum ConfigurationReport {
    package static func json(of loaded: LoadedConfiguration) -> String {
        object(indent: "") { $0.show(loaded.configuration) } + "\n"
    }

    /// `{"configuration": …, "sources": {"port": "flag --port", …}}`.
    package static func jsonWithSources(of loaded: LoadedConfiguration) -> String {
        let values = object(indent: "  ") { $0.show(loaded.configuration) }
        let sources = ConfigurationKey.all.map { key in
            "    \(JSONText.string(key.path)): \(JSONText.string(loaded.origin(of: key.path).description))"
        }
        return "{\n  \"configuration\": \(values),\n  \"sources\": {\n\(sources.joined(separator: ",\n"))\n  }\n}\n"
    }

    /// Keys with a dot in their path stand in the object of their group.
    private static func object(indent: String, value: (ConfigurationKey) -> String) -> String {
        var members: [String] = []
        var groups: [(name: String, members: [String])] = []
        for key in ConfigurationKey.all {
            let parts = key.path.split(separator: ".").map(String.init)
            guard parts.count == 2 else {
                members.append("\(indent)  \(JSONText.string(key.path)): \(value(key))")
                continue
            }
            if groups.last?.name != parts[0] { groups.append((parts[0], [])) }
            groups[groups.count - 1].members.append("\(indent)    \(JSONText.string(parts[1])): \(value(key))")
        }
        members += groups.map { group in
            let inner = group.members.joined(separator: ",\n")
            return "\(indent)  \(JSONText.string(group.name)): {\n\(inner)\n\(indent)  }"
        }
        return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
    }
}
