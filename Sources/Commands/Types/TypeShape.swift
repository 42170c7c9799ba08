import JSONDocument
import Sessions

/// What a JSON Schema says in the terms of types. It has room for every value that the schema allows, and for others:
/// what no type says, such as a pattern or an `if`, is left out.
indirect enum TypeShape: Equatable {
    case any, null, boolean, integer, number, string
    /// One of these, none of them an array or an object.
    case constants([JSONDocument])
    case list(TypeShape)
    /// - others: the shape of all other members; nil when there are none.
    case object([Member], others: TypeShape?)
    /// The part of the schema at this JSON Pointer.
    case part(String)
    /// One of these: none is ``any``, and none is a union.
    case union([TypeShape])

    struct Member: Equatable {
        let name: String
        let shape: TypeShape
        let isRequired: Bool
    }

    /// Whether it is written in one short line, so that it needs no name.
    var isPlain: Bool {
        switch self {
        case .any, .null, .boolean, .integer, .number, .string: true
        case .constants(let values): values.count <= 4
        case .list(let element): element.isPlain
        case .union(let shapes): shapes.allSatisfy(\.isPlain)
        case .object, .part: false
        }
    }

    /// More constants say little to a person, and take compilers long.
    static let mostConstants = 100

    /// The union of shapes.
    static func of(_ shapes: [TypeShape]) -> TypeShape {
        let parts = shapes.flatMap { shape -> [TypeShape] in
            if case .union(let parts) = shape { parts } else { [shape] }
        }
        let values = parts.flatMap { part -> [JSONDocument] in
            if case .constants(let values) = part { values } else { [] }
        }
        var constants: [JSONDocument] = []
        for value in values where constants.count <= mostConstants && !constants.contains(value) {
            constants.append(value)
        }
        let isEnumeration = constants.count <= mostConstants
        var all: [TypeShape] = []
        for part in parts + (isEnumeration ? [] : values.map(TypeShape.init(of:))) {
            if case .constants = part { continue }
            if !all.contains(part) { all.append(part) }
        }
        if all.contains(.any) { return .any }
        if all.contains(.number) { all.removeAll { $0 == .integer } }
        if isEnumeration, !constants.isEmpty { all.append(.constants(constants)) }
        return all.count == 1 ? all[0] : all.isEmpty ? .any : .union(all)
    }

    /// Of all values of a value's type.
    private init(of value: JSONDocument) {
        switch value.kind {
        case .null: self = .null
        case .bool: self = .boolean
        case .string: self = .string
        case .integer, .double: self = value.int == nil ? .number : .integer
        case .array, .object: self = .any
        }
    }
}

/// Reads one schema, draft 7, that has been compiled before: its references have targets and no circles.
struct TypeReader {
    private let source: JSONDocument
    /// The parts that references name, by their JSON Pointers. The whole schema has the empty one.
    private(set) var parts: [String: TypeShape] = [:]
    /// Whether a reference names the whole schema.
    private(set) var isRecursive = false
    /// Of the whole schema.
    private(set) var shape = TypeShape.any

    init(_ schema: JSONDocument) {
        source = schema
        // An `$id` here is the base of all references, which therefore stay within the schema.
        shape = shape(JSONDocument(members: (schema.members ?? []).filter { $0.name != "$id" }))
    }

    private mutating func shape(_ schema: JSONDocument) -> TypeShape {
        if let target = schema[member: "$ref"]?.string { return part(target) }
        // It changes what the references inside mean.
        if let id = schema[member: "$id"]?.string, !id.hasPrefix("#") { return .any }
        let types = Self.types(of: schema)
        if let choices = schema[member: "const"].map({ [$0] }) ?? schema[member: "enum"]?.elements {
            return Self.constants(choices, types)
        }
        if !types.isEmpty { return .of(types.map { shape(schema, of: $0) }) }
        for keyword in ["anyOf", "oneOf"] {
            guard let parts = schema[member: keyword]?.elements else { continue }
            let union = TypeShape.of(parts.map { shape($0) })
            if union != .any { return union }
        }
        // All of them hold, so each one does.
        let parts = (schema[member: "allOf"]?.elements ?? []).map { shape($0) }
        return parts.first { $0 != .any } ?? .any
    }

    private static func types(of schema: JSONDocument) -> [String] {
        let type = schema[member: "type"]
        return type?.elements?.compactMap(\.string) ?? [type?.string].compactMap(\.self)
    }

    private static func constants(_ choices: [JSONDocument], _ types: [String]) -> TypeShape {
        guard choices.allSatisfy({ $0.kind != .array && $0.kind != .object }) else { return .any }
        let fitting = choices.filter { choice in types.isEmpty || types.contains { isOf($0, choice) } }
        return .of([.constants(fitting.isEmpty ? choices : fitting)])
    }

    private static func isOf(_ type: String, _ value: JSONDocument) -> Bool {
        switch value.kind {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .string: type == "string"
        case .integer, .double: type == "number" || type == "integer"
        case .array, .object: false
        }
    }

    private mutating func shape(_ schema: JSONDocument, of type: String) -> TypeShape {
        switch type {
        case "null": return .null
        case "boolean": return .boolean
        case "integer": return .integer
        case "number": return .number
        case "string": return .string
        case "array":
            guard let items = schema[member: "items"], items.kind == .object else { return .list(.any) }
            return .list(shape(items))
        case "object": return object(schema)
        default: return .any
        }
    }

    private mutating func object(_ schema: JSONDocument) -> TypeShape {
        let required = schema[member: "required"]?.elements?.compactMap(\.string) ?? []
        var undeclared = Set(required.map { ExactText($0) })
        let isClosed = schema[member: "additionalProperties"]?.bool == false
        var others = (schema[member: "patternProperties"]?.members ?? []).map { shape($0.value) }
        if !isClosed { others.append(schema[member: "additionalProperties"].map { shape($0) } ?? .any) }
        var members: [TypeShape.Member] = []
        for (name, part) in schema[member: "properties"]?.members ?? [] {
            let isRequired = undeclared.remove(ExactText(name)) != nil
            members.append(.init(name: name, shape: shape(part), isRequired: isRequired))
        }
        if let order = schema[member: "x-order"]?.elements?.compactMap(\.string) {
            // What the author has not put in order is behind the rest.
            members =
                order.compactMap { name in members.first { $0.name == name } }
                + members.filter { !order.contains($0.name) }
        }
        for name in required where undeclared.remove(ExactText(name)) != nil {
            members.append(.init(name: name, shape: .of(others), isRequired: true))
        }
        return .object(members, others: others.isEmpty ? nil : .of(others))
    }

    /// A part of the schema that a reference names. One of another kind than a JSON Pointer may be anything.
    private mutating func part(_ reference: String) -> TypeShape {
        guard reference == "#" || reference.hasPrefix("#/"), !reference.contains("%") else { return .any }
        let text = String(reference.dropFirst())
        if text.isEmpty {
            isRecursive = true
            return .part("")
        }
        if parts[text] != nil { return .part(text) }
        guard let pointer = JSONPointer(parsing: text), let part = source.value(at: pointer) else { return .any }
        // Inside of a part with an `$id`, references mean something else.
        let around = pointer.tokens.indices.dropFirst().compactMap {
            source.value(at: JSONPointer(Array(pointer.tokens[..<$0])))?[member: "$id"]?.string
        }
        guard around.allSatisfy({ $0.hasPrefix("#") }) else { return .any }
        parts[text] = .any
        parts[text] = shape(part)
        return .part(text)
    }
}
