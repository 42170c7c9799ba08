import JSONDocument

/// Finds paths that a JSON Schema certainly forbids.
///
/// It only understands plain keywords: `properties`, `additionalProperties`, `items`, `type` and local `$ref`. A path
/// that it forbids is forbidden; a path that it allows may be forbidden by other keywords.
package struct SchemaRoom {
    private let schema: JSONDocument

    package init(_ schema: JSONDocument) { self.schema = schema }

    /// Whether no document that fits the schema can have a value there.
    package func isForbidden(_ pointer: JSONPointer) -> Bool {
        var place: JSONDocument? = schema
        for token in pointer.tokens {
            guard let current = resolved(place) else { return false }
            switch step(into: current, token) {
            case .forbidden: return true
            case .unknown: return false
            case .schema(let next): place = next
            }
        }
        return place?.bool == false
    }

    /// The schema of the value there; nil when it is not known or refers to other parts of the schema.
    package func schema(at pointer: JSONPointer) -> JSONDocument? {
        var place = schema
        for token in pointer.tokens {
            guard let current = resolved(place), case .schema(let next) = step(into: current, token) else { return nil }
            place = next
        }
        guard let place = resolved(place), !mentionsReference(place) else { return nil }
        return place
    }

    /// The pointer with its first unknown token corrected.
    func guess(for pointer: JSONPointer) -> String? {
        var place: JSONDocument? = schema
        for (index, token) in pointer.tokens.enumerated() {
            guard let current = resolved(place) else { return nil }
            switch step(into: current, token) {
            case .schema(let next): place = next
            case .unknown, .forbidden:
                let known = current[member: "properties"]?.members?.map(\.name) ?? []
                guard let nearest = NearestName.of(token, among: known) else { return nil }
                return JSONPointer(pointer.tokens[..<index] + [nearest] + pointer.tokens[(index + 1)...]).description
            }
        }
        return nil
    }

    /// Whether an object on the way has declared members, and the next token is not one of them.
    func isUndeclared(_ pointer: JSONPointer) -> Bool {
        var place: JSONDocument? = schema
        for token in pointer.tokens {
            guard let current = resolved(place), current.kind == .object else { return false }
            if case .schema(let next) = step(into: current, token) {
                place = next
                continue
            }
            let open = ["patternProperties", "additionalProperties", "allOf", "anyOf", "oneOf", "if", "dependencies"]
            return (current[member: "properties"]?.count ?? 0) > 0 && !open.contains { current[member: $0] != nil }
        }
        return false
    }

    /// The author's text beside the schema of a value.
    func say(at pointer: JSONPointer) -> String? {
        var place: JSONDocument? = schema
        for token in pointer.tokens {
            guard let current = resolved(place) else { return nil }
            if case .schema(let next) = step(into: current, token) {
                place = next
            } else if let items = current[member: "items"], Int(token) != nil {
                place = items
            } else if let property = current[member: "properties"]?[member: token] {
                place = property
            } else {
                return nil
            }
        }
        return resolved(place)?[member: SchemaTexts.sayKey]?.string
    }

    /// Whether there is such a text anywhere in a schema.
    static func says(_ schema: JSONDocument) -> Bool {
        if let elements = schema.elements { return elements.contains(where: says) }
        return schema.members?.contains { $0.name == SchemaTexts.sayKey || says($0.value) } ?? false
    }

    private enum Next {
        case schema(JSONDocument)
        case forbidden
        case unknown
    }

    private func step(into schema: JSONDocument, _ token: String) -> Next {
        if schema.bool == false { return .forbidden }
        guard schema.kind == .object else { return .unknown }
        let types = schema[member: "type"].map { $0.elements?.compactMap(\.string) ?? [$0.string].compactMap { $0 } }
        let mayBeObject = types?.contains("object") ?? true
        let mayBeArray = (types?.contains("array") ?? true) && (token == "-" || Int(token) != nil)
        switch (mayBeObject, mayBeArray) {
        case (false, false): return .forbidden
        case (true, false): return member(of: schema, token)
        case (false, true):
            guard let items = schema[member: "items"] else { return .unknown }
            return items.kind == .array ? .unknown : .schema(items)
        case (true, true): return .unknown
        }
    }

    private func member(of schema: JSONDocument, _ token: String) -> Next {
        if let property = schema[member: "properties"]?[member: token] { return .schema(property) }
        guard schema[member: "patternProperties"] == nil, let others = schema[member: "additionalProperties"] else {
            return .unknown
        }
        return others.bool == false ? .forbidden : .schema(others)
    }

    private func resolved(_ schema: JSONDocument?) -> JSONDocument? {
        var place = schema
        // A reference may lead to another; a compiled schema has no circle of references only.
        for _ in 0..<16 {
            guard let reference = place?[member: "$ref"]?.string else { return place }
            guard reference.hasPrefix("#"), let pointer = JSONPointer(parsing: String(reference.dropFirst())) else {
                return nil
            }
            place = self.schema.value(at: pointer)
        }
        return nil
    }

    private func mentionsReference(_ schema: JSONDocument) -> Bool {
        if let elements = schema.elements { return elements.contains(where: mentionsReference) }
        return schema.members?.contains { $0.name == "$ref" || mentionsReference($0.value) } ?? false
    }
}
