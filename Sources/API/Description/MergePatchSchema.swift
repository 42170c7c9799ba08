import JSONDocument

/// The schema of merge patches (RFC 7396) for states of a schema that ``SchemaComponents`` has converted.
///
/// Every member may be missing. Null removes a member, so it is allowed only where the state may be without it. Parts
/// of a state whose members a schema does not name directly are patched by any value.
enum MergePatchSchema {
    /// - Parameter completes: whether a removed member gets its default.
    static func document(for state: JSONDocument, completes: Bool) -> JSONDocument {
        var members = patched(state, isRemovable: false, completes: completes).members ?? []
        members.removeAll { $0.name == "type" || $0.name == "description" }
        return JSONDocument(
            members: members + [
                ("type", "object"),
                ("description", "RFC 7396: a member replaces the member of its name, null removes it."),
            ])
    }

    private static let combining: Set = ["$ref", "allOf", "anyOf", "oneOf", "not", "if"]

    private static func patched(_ schema: JSONDocument, isRemovable: Bool, completes: Bool = false) -> JSONDocument {
        let members = schema.members ?? []
        if members.contains(where: { combining.contains($0.name) }) { return [:] }
        guard schema[member: "properties"] != nil || SchemaComponents.types(of: schema).contains("object") else {
            return nullable(members.filter { $0.name != "default" }, isRemovable)
        }
        let required = Set(completes ? [] : schema[member: "required"]?.elements?.compactMap(\.string) ?? [])
        func patchedParts(_ parts: JSONDocument) -> JSONDocument {
            JSONDocument(
                members: (parts.members ?? []).map {
                    (name: $0.name, value: patched($0.value, isRemovable: !required.contains($0.name)))
                })
        }
        let kept = members.compactMap { name, value -> (name: String, value: JSONDocument)? in
            switch name {
            case "type", "title", "description", "propertyNames": (name, value)
            case "properties", "patternProperties": (name, patchedParts(value))
            case "additionalProperties": (name, value.bool != nil ? value : patched(value, isRemovable: true))
            default: nil
            }
        }
        return nullable(kept, isRemovable)
    }

    /// The schema with or without null among its values. One that says nothing of types allows null already.
    private static func nullable(_ members: [(name: String, value: JSONDocument)], _ isNullable: Bool) -> JSONDocument {
        let null: [JSONDocument] = isNullable ? [nil] : []
        return JSONDocument(
            members: members.map { name, value in
                switch name {
                case "enum": (name, JSONDocument((value.elements ?? []).filter { !$0.isNull } + null))
                case "const" where isNullable && !value.isNull: ("enum", [value, nil])
                case "type":
                    (
                        name,
                        Self.type(
                            SchemaComponents.types(of: ["type": value]).filter { $0 != "null" }
                                + (isNullable ? ["null"] : []))
                    )
                default: (name, value)
                }
            })
    }

    private static func type(_ names: [String]) -> JSONDocument {
        names.count == 1 ? JSONDocument(names[0]) : JSONDocument(names.map { JSONDocument($0) })
    }
}
