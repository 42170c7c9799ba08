import JSONDocument

/// Finds paths that a JSON Schema certainly forbids.
///
/// It only understands plain keywords: `properties`, `additionalProperties`, `items`, `type` and local `$ref`. A path
/// that it forbids is forbidden; a path that it allows may be forbidden by other keywords.
package struct SchemaRoom {
    private let schema: JSONDocument

    package init(_ schema: JSONDocument) { self.schema = schema }

    /// How far a pointer leads.
    private struct Way {
        /// The schema of the value there, or of the last one on the way that is known; nil where a reference leads
        /// nowhere.
        var schema: JSONDocument?
        /// How many tokens were followed.
        var length = 0
        /// Whether the next token is forbidden.
        var isForbidden = false
    }

    /// - Parameter other: the schema of a part that ``step(into:_:)`` does not know.
    private func way(
        along pointer: JSONPointer, else other: (JSONDocument, String) -> JSONDocument? = { _, _ in nil }
    ) -> Way {
        var way = Way(schema: resolved(schema))
        for token in pointer.tokens {
            guard let current = way.schema else { return way }
            let next = step(into: current, token)
            guard let part = next.schema ?? other(current, token) else {
                way.isForbidden = next.isForbidden
                return way
            }
            way.schema = resolved(part)
            way.length += 1
        }
        return way
    }

    /// Whether no document that fits the schema can have a value there.
    package func isForbidden(_ pointer: JSONPointer) -> Bool {
        let way = way(along: pointer)
        return way.isForbidden || (way.length == pointer.tokens.count && way.schema?.bool == false)
    }

    /// The schema of the value there; nil when it is not known or refers to other parts of the schema.
    package func schema(at pointer: JSONPointer) -> JSONDocument? {
        let way = way(along: pointer)
        guard way.length == pointer.tokens.count, let schema = way.schema, !mentionsReference(schema) else {
            return nil
        }
        return schema
    }

    /// The pointer with its first unknown token corrected.
    func guess(for pointer: JSONPointer) -> String? {
        let way = way(along: pointer)
        guard way.length < pointer.tokens.count, let schema = way.schema else { return nil }
        var tokens = pointer.tokens
        let known = schema[member: "properties"]?.members?.map(\.name) ?? []
        guard let nearest = NearestName.of(tokens[way.length], among: known) else { return nil }
        tokens[way.length] = nearest
        return JSONPointer(tokens).description
    }

    /// Whether an object on the way has declared members, and the next token is not one of them.
    func isUndeclared(_ pointer: JSONPointer) -> Bool {
        let way = way(along: pointer)
        guard way.length < pointer.tokens.count, let schema = way.schema else { return false }
        let open = ["patternProperties", "additionalProperties", "allOf", "anyOf", "oneOf", "if", "dependencies"]
        return (schema[member: "properties"]?.count ?? 0) > 0 && !open.contains { schema[member: $0] != nil }
    }

    /// Whether the value, or one that it is a part of, is only to be written.
    func isWriteOnly(_ pointer: JSONPointer) -> Bool {
        (0...pointer.tokens.count).contains { length in
            let way = way(along: JSONPointer(Array(pointer.tokens.prefix(length))))
            return way.length == length && way.schema?[member: "writeOnly"]?.bool == true
        }
    }

    /// The author's text beside the schema of a value.
    func say(at pointer: JSONPointer) -> String? {
        let way = way(along: pointer) { schema, token in
            if let items = schema[member: "items"], Int(token) != nil { return items }
            return schema[member: "properties"]?[member: token]
        }
        return way.length == pointer.tokens.count ? way.schema?[member: SchemaTexts.sayKey]?.string : nil
    }

    /// Whether there is such a key anywhere in a schema.
    static func mentions(in schema: JSONDocument, _ isWanted: (String) -> Bool) -> Bool {
        if let elements = schema.elements { return elements.contains { mentions(in: $0, isWanted) } }
        return schema.members?.contains { isWanted($0.name) || mentions(in: $0.value, isWanted) } ?? false
    }

    /// The first token that cannot be of an element of the list at its place. Where no schema says that there is a
    /// list, a negative number is taken as meant for one.
    ///
    /// - Returns: the number of tokens before it, and whether a schema says so.
    func badIndex(in pointer: JSONPointer) -> (place: Int, isCertain: Bool)? {
        for (place, token) in pointer.tokens.enumerated() where !Self.isIndex(token) {
            let way = way(along: JSONPointer(Array(pointer.tokens[..<place])))
            let isList = way.length == place && way.schema.map(Self.isList) ?? false
            if isList || Self.isNegative(token) { return (place, isList) }
        }
        return nil
    }

    private static func isList(_ schema: JSONDocument) -> Bool {
        guard let type = schema[member: "type"] else { return false }
        let types = type.elements?.compactMap(\.string) ?? [type.string ?? ""]
        return types.contains("array") && types.allSatisfy { $0 == "array" || $0 == "null" }
    }

    private static func isIndex(_ token: String) -> Bool {
        !token.isEmpty && token.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isNegative(_ token: String) -> Bool { token.first == "-" && isIndex(String(token.dropFirst())) }

    private typealias Next = (schema: JSONDocument?, isForbidden: Bool)

    private func step(into schema: JSONDocument, _ token: String) -> Next {
        if schema.bool == false { return (nil, true) }
        guard schema.kind == .object else { return (nil, false) }
        let types = schema[member: "type"].map { $0.elements?.compactMap(\.string) ?? [$0.string].compactMap { $0 } }
        let mayBeObject = types?.contains("object") ?? true
        let mayBeArray = (types?.contains("array") ?? true) && (token == "-" || Self.isIndex(token))
        switch (mayBeObject, mayBeArray) {
        case (false, false): return (nil, true)
        case (true, false): return member(of: schema, token)
        case (false, true):
            guard let items = schema[member: "items"], items.kind != .array else { return (nil, false) }
            return (items, false)
        case (true, true): return (nil, false)
        }
    }

    private func member(of schema: JSONDocument, _ token: String) -> Next {
        if let property = schema[member: "properties"]?[member: token] { return (property, false) }
        guard schema[member: "patternProperties"] == nil, let others = schema[member: "additionalProperties"] else {
            return (nil, false)
        }
        if others.bool == false { return (nil, true) }
        return (others, false)
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
