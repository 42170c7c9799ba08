import JSONDocument

/// What a JSON Schema certainly has no room for.
///
/// Schemas can say things in so many ways that this only looks at the plain ones (`properties`,
/// `additionalProperties`, `items`, `type`, local `$ref`): what it forbids is forbidden, what it does not may be, too.
struct SchemaRoom {
    private let schema: JSONDocument

    init(_ schema: JSONDocument) { self.schema = schema }

    /// Whether no document that fits can have a value there.
    func isForbidden(_ pointer: JSONPointer) -> Bool {
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

    /// The schema for the value there, when it can be told and stands on its own.
    func schema(at pointer: JSONPointer) -> JSONDocument? {
        var place = schema
        for token in pointer.tokens {
            guard let current = resolved(place), case .schema(let next) = step(into: current, token) else { return nil }
            place = next
        }
        guard let place = resolved(place), !mentionsReference(place) else { return nil }
        return place
    }

    /// The pointer with its last known part put right.
    func guess(for pointer: JSONPointer) -> String? {
        var place: JSONDocument? = schema
        for (index, token) in pointer.tokens.enumerated() {
            guard let current = resolved(place) else { return nil }
            switch step(into: current, token) {
            case .schema(let next): place = next
            case .unknown: return nil
            case .forbidden:
                let known = current[member: "properties"]?.members?.map(\.name) ?? []
                guard let nearest = NearestName.of(token, among: known) else { return nil }
                return JSONPointer(pointer.tokens[..<index] + [nearest] + pointer.tokens[(index + 1)...]).description
            }
        }
        return nil
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
        // References may lead on to others; a compiled schema has no circle of nothing but references.
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
