import JSONDocument

/// Schemas of loaded files as components of the description: draft 7 converted to draft 2020-12, which OpenAPI 3.1 has.
///
/// A part that a `$ref` names becomes a component of its own, because generators of clients look for references there.
/// Keywords that draft 7 does not know are left out, since another draft may. So is a part with an `$id` that changes
/// the base of references, and one that is referred to by such an `$id`: any value is allowed there.
struct SchemaComponents: Sendable {
    private(set) var all: [(name: String, document: JSONDocument)] = []
    /// Those of components, with their ``forms(of:)``.
    private var taken: Set<String>
    /// The schema that is being converted.
    private var source = JSONDocument.null
    /// The components of its parts that are referred to, by their pointers.
    private var parts: [String: String] = [:]
    private var waiting: [(part: JSONDocument, name: String)] = []

    init(reserving names: some Sequence<String>) {
        taken = Set(names.flatMap(Self.forms))
    }

    private static let place = "#/components/schemas/"

    static func reference(to name: String) -> JSONDocument { ["$ref": JSONDocument(place + name)] }

    /// The names of the components that a document refers to.
    static func references(in document: JSONDocument) -> [String] {
        if let target = document[member: "$ref"]?.string, target.hasPrefix(place) {
            return [String(target.dropFirst(place.count))]
        }
        return (document.members?.map(\.value) ?? document.elements ?? []).flatMap(references(in:))
    }

    /// A name that generators can use: `QuoteDraft` for `quote-draft`.
    static func name(of words: String...) -> String {
        let words = words.flatMap { $0.split { !$0.isASCII || !($0.isLetter || $0.isNumber) } }
        return words.isEmpty ? "Unnamed" : words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// What generated clients make of a name. In Go the constructor of `Cart` is `NewCart`. In lower case, because
    /// files are named by it, and some file systems ignore case.
    private static func forms(of name: String) -> [String] {
        let name = name.lowercased()
        return [name, "new\(name)"]
    }

    /// The name, or the name with a number where it or one of the `names` that are made of it is taken.
    mutating func take(_ name: String, names: (String) -> [String] = { [$0] }) -> String {
        var candidate = name
        var number = 1
        while !taken.isDisjoint(with: names(candidate).flatMap(Self.forms)) {
            number += 1
            candidate = "\(name)\(number)"
        }
        taken.formUnion(names(candidate).flatMap(Self.forms))
        return candidate
    }

    mutating func add(_ document: JSONDocument, named name: String) { all.append((name, document)) }

    /// Converts a schema and the parts of it that it refers to. The parts become components here, the schema only when
    /// the caller adds it.
    mutating func convert(_ schema: JSONDocument, named name: String) -> JSONDocument {
        source = schema
        parts = ["": name]
        let whole = schema.members.map { JSONDocument(members: $0.filter { $0.name != "$id" }) } ?? schema
        let converted = convert(whole)
        while let (part, name) = waiting.popLast() { add(convert(part), named: name) }
        return converted
    }

    private mutating func convert(_ schema: JSONDocument) -> JSONDocument {
        guard let members = schema.members else { return schema.bool == false ? ["not": [:]] : [:] }
        if let reference = schema[member: "$ref"]?.string { return convert(reference: reference) }
        if let id = schema[member: "$id"]?.string, !id.hasPrefix("#") { return [:] }
        var converted: [(name: String, value: JSONDocument)] = []
        for (name, value) in members {
            switch name {
            case "title", "description": if value.string != nil { converted.append((name, value)) }
            case "properties", "patternProperties": converted.append((name, convert(members: value)))
            case "additionalProperties": converted.append((name, value.bool != nil ? value : convert(value)))
            case "contains", "propertyNames", "not", "if", "then", "else": converted.append((name, convert(value)))
            case "allOf", "anyOf", "oneOf": converted.append((name, convert(elements: value)))
            case "items":
                guard value.elements != nil else {
                    converted.append((name, convert(value)))
                    continue
                }
                converted.append(("prefixItems", convert(elements: value)))
                if let rest = schema[member: "additionalItems"] {
                    converted.append(("items", rest.bool != nil ? rest : convert(rest)))
                }
            case "dependencies":
                let named = value.members ?? []
                let needed = named.filter { $0.value.elements != nil }
                if !needed.isEmpty { converted.append(("dependentRequired", JSONDocument(members: needed))) }
                let others = named.filter { $0.value.elements == nil }
                if !others.isEmpty {
                    converted.append(("dependentSchemas", convert(members: JSONDocument(members: others))))
                }
            case _ where Self.unchanged.contains(name): converted.append((name, value))
            default: break
            }
        }
        let types = Self.types(of: schema).filter { $0 != "null" }
        // It says nothing, and generators of clients need it.
        if schema[member: "items"] == nil, types.contains("array") { converted.append(("items", [:])) }
        // Without it many generated clients take 32 bits.
        if schema[member: "format"] == nil, types == ["integer"] { converted.append(("format", "int64")) }
        return JSONDocument(members: converted)
    }

    /// The types that a schema names.
    static func types(of schema: JSONDocument) -> [String] {
        let type = schema[member: "type"]
        return type?.elements?.compactMap(\.string) ?? [type?.string].compactMap(\.self)
    }

    private static let unchanged: Set = [
        "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
        "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties",
        "required", "format", "contentEncoding", "contentMediaType", "default", "examples", "readOnly", "writeOnly",
    ]

    private mutating func convert(members: JSONDocument) -> JSONDocument {
        var converted: [(name: String, value: JSONDocument)] = []
        for (name, value) in members.members ?? [] { converted.append((name, convert(value))) }
        return JSONDocument(members: converted)
    }

    private mutating func convert(elements: JSONDocument) -> JSONDocument {
        var converted: [JSONDocument] = []
        for element in elements.elements ?? [] { converted.append(convert(element)) }
        return JSONDocument(converted)
    }

    private mutating func convert(reference: String) -> JSONDocument {
        guard reference.hasPrefix("#") else { return [:] }
        let fragment = String(reference.dropFirst())
        if let name = parts[fragment] { return Self.reference(to: name) }
        let pointer = JSONPointer(parsing: fragment)
        guard let part = pointer.map({ source.value(at: $0) }) ?? Self.part(of: source, identified: reference) else {
            return [:]
        }
        let last = pointer?.tokens.last ?? fragment
        let name = take((parts[""] ?? "") + Self.name(of: last))
        parts[fragment] = name
        waiting.append((part, name))
        return Self.reference(to: name)
    }

    /// The part whose `$id` is a plain name such as `#address`.
    private static func part(of schema: JSONDocument, identified id: String) -> JSONDocument? {
        if schema[member: "$id"]?.string == id { return schema }
        let parts = schema.members?.map(\.value) ?? schema.elements ?? []
        return parts.lazy.compactMap { part(of: $0, identified: id) }.first
    }
}

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
