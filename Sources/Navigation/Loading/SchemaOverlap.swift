import JSONDocument

/// What can be said about the values that fit two JSON Schemas, as far as their plain keywords say it.
///
/// It is careful: what it says is certain, and it says nothing where it does not understand a keyword.
package enum SchemaOverlap {
    /// The types of JSON values, integers and other numbers being one.
    package struct Kinds: OptionSet {
        package let rawValue: Int
        static let null = Kinds(rawValue: 1)
        static let bool = Kinds(rawValue: 2)
        static let number = Kinds(rawValue: 4)
        static let text = Kinds(rawValue: 8)
        static let list = Kinds(rawValue: 16)
        static let object = Kinds(rawValue: 32)
        static let any: Kinds = [.null, .bool, .number, .text, .list, .object]

        static let names: [(String, Kinds)] = [
            ("null", .null), ("boolean", .bool), ("number", .number), ("integer", .number), ("string", .text),
            ("array", .list), ("object", .object),
        ]

        package init(rawValue: Int) { self.rawValue = rawValue }

        init(_ value: JSONDocument) {
            switch value.kind {
            case .null: self = .null
            case .bool: self = .bool
            case .integer, .double: self = .number
            case .string: self = .text
            case .array: self = .list
            case .object: self = .object
            }
        }

        /// "a string or null"
        package var phrase: String {
            let phrases: [(Kinds, String)] = [
                (.number, "a number"), (.text, "a string"), (.bool, "a boolean"), (.list, "an array"),
                (.object, "an object"), (.null, "null"),
            ]
            return phrases.filter { contains($0.0) }.map(\.1).joined(separator: " or ")
        }
    }

    /// The types that a value that fits may have.
    package static func kinds(of schema: JSONDocument) -> Kinds {
        if schema.bool == false { return [] }
        var kinds = Kinds.any
        if let type = schema[member: "type"] {
            let names = type.elements?.compactMap(\.string) ?? type.string.map { [$0] } ?? []
            kinds = names.reduce([]) { all, name in all.union(Kinds.names.first { $0.0 == name }?.1 ?? .any) }
        }
        if let values = values(of: schema) { kinds.formIntersection(values.reduce([]) { $0.union(Kinds($1)) }) }
        for part in schema[member: "allOf"]?.elements ?? [] { kinds.formIntersection(self.kinds(of: part)) }
        for key in ["anyOf", "oneOf"] {
            guard let parts = schema[member: key]?.elements else { continue }
            kinds.formIntersection(parts.reduce([]) { $0.union(self.kinds(of: $1)) })
        }
        return kinds
    }

    /// Whether no value fits both schemas.
    package static func isEmpty(_ one: JSONDocument, _ other: JSONDocument) -> Bool {
        if let values = values(of: one), let rule = try? JSONSchema(other) {
            return !values.contains { rule.accepts($0) }
        }
        if let values = values(of: other), let rule = try? JSONSchema(one) {
            return !values.contains { rule.accepts($0) }
        }
        for key in ["anyOf", "oneOf"] {
            if let parts = one[member: key]?.elements, parts.allSatisfy({ isEmpty($0, other) }) { return true }
            if let parts = other[member: key]?.elements, parts.allSatisfy({ isEmpty(one, $0) }) { return true }
        }
        let common = kinds(of: one).intersection(kinds(of: other))
        if !common.intersection([.null, .bool, .list]).isEmpty { return false }
        if common.contains(.number), !areApart(one, other, "minimum", "maximum") { return false }
        if common.contains(.text), !areApart(one, other, "minLength", "maxLength") { return false }
        if common.contains(.object), !haveNoCommonObject(one, other) { return false }
        return true
    }

    /// Whether every value that fits the first schema fits the second.
    static func isWithin(_ one: JSONDocument, _ other: JSONDocument) -> Bool {
        if other.bool == true || other == .emptyObject { return true }
        guard other.kind == .object else { return false }
        if let values = values(of: one), let rule = try? JSONSchema(other) {
            return values.allSatisfy { rule.accepts($0) }
        }
        let kinds = kinds(of: one)
        for (key, value) in other.members ?? [] {
            switch key {
            case "title", "description", "$comment", "examples", "default", "x-say": continue
            case "type":
                guard kinds.isSubset(of: self.kinds(of: other)) else { return false }
                let names = value.elements?.compactMap(\.string) ?? value.string.map { [$0] } ?? []
                // Whether a number is whole is not looked into, unless both say the same.
                if kinds.contains(.number), !names.contains("number"), one[member: "type"] != value { return false }
            case "minimum", "minLength":
                if kinds.isDisjoint(with: key == "minimum" ? .number : .text) { continue }
                guard let bound = one[member: key]?.double, let least = value.double, bound >= least else {
                    return false
                }
            case "maximum", "maxLength":
                if kinds.isDisjoint(with: key == "maximum" ? .number : .text) { continue }
                guard let bound = one[member: key]?.double, let most = value.double, bound <= most else { return false }
            case "required":
                if !kinds.contains(.object) { continue }
                let known = one[member: "required"]?.elements ?? []
                guard value.elements?.allSatisfy({ known.contains($0) }) == true else { return false }
            case "properties":
                if !kinds.contains(.object) { continue }
                for (name, part) in value.members ?? [] {
                    guard isWithin(member(of: one, name) ?? true, part) else { return false }
                }
            default: return false
            }
        }
        return true
    }

    /// The values that fit, where the schema lists them.
    private static func values(of schema: JSONDocument) -> [JSONDocument]? {
        schema[member: "const"].map { [$0] } ?? schema[member: "enum"]?.elements
    }

    private static func areApart(_ one: JSONDocument, _ other: JSONDocument, _ low: String, _ high: String) -> Bool {
        func isAbove(_ one: JSONDocument, _ other: JSONDocument) -> Bool {
            guard let least = one[member: low]?.double, let most = other[member: high]?.double else { return false }
            return least > most
        }
        return isAbove(one, other) || isAbove(other, one)
    }

    private static func haveNoCommonObject(_ one: JSONDocument, _ other: JSONDocument) -> Bool {
        let required = [one, other].flatMap { $0[member: "required"]?.elements?.compactMap(\.string) ?? [] }
        return required.contains { name in
            isEmpty(member(of: one, name) ?? true, member(of: other, name) ?? true)
        }
    }

    /// The schema of a member of an object; nil where nothing plain is said.
    private static func member(of schema: JSONDocument, _ name: String) -> JSONDocument? {
        if schema.bool != nil { return schema }
        if let property = schema[member: "properties"]?[member: name] { return property }
        return schema[member: "patternProperties"] == nil ? schema[member: "additionalProperties"] : nil
    }
}

extension SchemaOverlap {
    /// Why a value certainly does not fit a schema.
    package struct Mismatch {
        /// Within the value.
        package var pointer = JSONPointer.root
        package let detail: String
        package var guess: String?
    }

    /// - Parameter made: a schema that the value fits.
    package static func mismatches(
        of value: ValueTemplate, _ made: JSONDocument, with schema: JSONDocument
    ) -> [Mismatch] {
        if case .literal(let literal) = value {
            return ((try? JSONSchema(schema))?.violations(in: literal) ?? []).map {
                Mismatch(detail: "\($0.pointer.isEmpty ? "the value" : $0.pointer) \($0.detail)")
            }
        }
        let allowed = kinds(of: schema)
        if case .object(let members) = value, allowed.contains(.object) {
            let found = mismatches(of: members, made, with: schema)
            if !found.isEmpty { return found }
        }
        guard isEmpty(made, schema) else { return [] }
        let found = kinds(of: made)
        return [
            Mismatch(
                detail: found.isDisjoint(with: allowed)
                    ? "the value is \(found.phrase); expected \(allowed.phrase)" : "no possible result fits")
        ]
    }

    private static func mismatches(
        of members: [(name: String, value: ValueTemplate)], _ made: JSONDocument, with schema: JSONDocument
    ) -> [Mismatch] {
        let room = SchemaRoom(schema)
        var found: [Mismatch] = []
        for (name, value) in members {
            let pointer = JSONPointer([name])
            if room.isForbidden(pointer) {
                let guess = room.guess(for: pointer).map { String($0.dropFirst()) }
                found.append(Mismatch(pointer: pointer, detail: "\(pointer) is not allowed", guess: guess))
            } else if let part = room.schema(at: pointer), let made = made[member: "properties"]?[member: name] {
                found += mismatches(of: value, made, with: part).map { inner in
                    var outer = inner
                    outer.pointer = JSONPointer(pointer.tokens + inner.pointer.tokens)
                    return outer
                }
            }
        }
        // A misspelt one is reported as that.
        let present = members.map(\.name) + found.compactMap(\.guess)
        for name in schema[member: "required"]?.elements?.compactMap(\.string) ?? [] where !present.contains(name) {
            found.append(Mismatch(detail: "\(JSONPointer([name])) is required"))
        }
        return found
    }
}
