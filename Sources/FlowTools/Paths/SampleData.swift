import JSONDocument
import Navigation

/// Makes data that fits a schema, for schemas as those of events usually are.
///
/// It uses `const`, `enum`, `default`, `examples`, types, bounds, lengths, patterns, formats, members, elements, and
/// the schemas of `allOf`, `anyOf`, `oneOf`, `if` and `$ref`. Each sample is checked against the whole schema, so it is
/// right whatever other keywords there are.
struct SampleData {
    /// Each sample is tried in each situation, so more would take long.
    private static let mostSamples = 16
    /// Of a member of an object.
    private static let mostOfPart = 8

    private let root: JSONDocument
    /// Days and times are near it; milliseconds since 1970.
    private let now: Int64

    /// Different samples: the simplest one, those that a wish asks for, then others. Empty when none was found.
    ///
    /// - Parameters:
    ///   - schema: what the data is like where there is no rule; nil for an object of any kind.
    ///   - wishes: about the data itself, whose places are their tokens; each list is a sample, or several.
    ///   - most: the samples for each list of wishes.
    static func samples(
        of rule: ShapeRule?, like schema: JSONDocument? = nil, wishes: [[Wish]] = [], each most: Int = 1, now: Int64 = 0
    ) -> [JSONDocument] {
        let schema = rule?.document ?? schema
        let data = SampleData(root: schema ?? true, now: now)
        var samples: [JSONDocument] = []
        let limit = most > 1 ? 3 * mostSamples : mostSamples
        func add(_ candidates: [JSONDocument], atMost most: Int = mostSamples) {
            var left = most
            for sample in candidates where left > 0 && samples.count < limit {
                guard rule?.accepts(sample) ?? true else { continue }
                left -= 1
                if !samples.contains(sample) { samples.append(sample) }
            }
        }
        let plain = schema.map { data.candidates(for: $0, [], depth: 0) } ?? []
        // Where nothing says what is allowed, it should rather be like the schema.
        if rule != nil || schema == nil { add([.emptyObject], atMost: 1) }
        if samples.isEmpty { add(plain, atMost: 1) }
        for list in wishes {
            let aims = list.map { Aim(tokens: $0.tokens[...], wanted: $0.wanted) }
            add(data.candidates(for: schema ?? ["type": "object"], aims, depth: 0), atMost: most)
        }
        add(plain)
        return samples
    }

    /// A value at a place of a document.
    static func value(for wanted: Wish.Wanted, schema: JSONDocument, now: Int64) -> JSONDocument? {
        SampleData(root: schema, now: now).candidates(for: schema, [Aim(tokens: [], wanted: wanted)], depth: 0).first
    }

    private struct Aim {
        let tokens: ArraySlice<String>
        let wanted: Wish.Wanted

        /// What is aimed at below a member or an element; nil for another one.
        func below(_ token: String) -> Aim? {
            guard let first = tokens.first, first == token || (first == "-" && token == "0") else { return nil }
            return Aim(tokens: tokens.dropFirst(), wanted: wanted)
        }
    }

    private func candidates(for schema: JSONDocument, _ aims: [Aim], depth: Int) -> [JSONDocument] {
        guard depth < 8 else { return [] }
        let here = aims.filter(\.tokens.isEmpty).map(\.wanted)
        let deeper = aims.filter { !$0.tokens.isEmpty }
        var schemas = alternatives(of: schema, depth: 0)
        var filters: [(JSONDocument) -> Bool] = []
        var count: Int?
        // Of two values the later one: it is of the guard that shall hold, behind those that shall not.
        var exact: JSONDocument?
        for wanted in here {
            switch wanted {
            case .value(let value): exact = value
            case .fits(let other):
                schemas = schemas.map { Self.merged($0, other) }
                if let compiled = try? JSONSchema(other) { filters.append { compiled.accepts($0) } }
            case .misfits(let other):
                if let compiled = try? JSONSchema(other) { filters.append { !compiled.accepts($0) } }
            case .present: filters.append { !$0.isNull }
            case .count(let wanted): count = wanted
            case .absent: break
            }
        }
        if let exact { return [exact] }
        let found = schemas.flatMap { plain($0, deeper, count: count, depth: depth) }
        return filters.isEmpty ? found : (found + ["", "x", 0, 1]).filter { value in filters.allSatisfy { $0(value) } }
    }

    /// The schemas without those within them: what fits one of them may fit the whole.
    private func alternatives(of schema: JSONDocument, depth: Int) -> [JSONDocument] {
        guard schema.kind == .object, depth < 8 else { return [schema] }
        if let reference = schema[member: "$ref"]?.string {
            guard reference.hasPrefix("#"), let pointer = JSONPointer(parsing: String(reference.dropFirst())),
                let target = root.value(at: pointer)
            else { return [true] }
            return alternatives(of: target, depth: depth + 1)
        }
        var all = [schema]
        for part in schema[member: "allOf"]?.elements ?? [] { all = all.map { Self.merged($0, part) } }
        for key in ["anyOf", "oneOf"] {
            guard let parts = schema[member: key]?.elements else { continue }
            all = all.flatMap { whole in parts.prefix(4).map { Self.merged(whole, $0) } }
        }
        if let condition = schema[member: "if"] {
            all = all.flatMap { whole in
                let then = Self.merged(Self.merged(whole, condition), schema[member: "then"] ?? true)
                return [Self.merged(whole, schema[member: "else"] ?? true), then]
            }
        }
        guard all != [schema] else { return all }
        let inner = ["allOf", "anyOf", "oneOf", "if", "then", "else"]
        return all.prefix(8).flatMap { whole in
            alternatives(
                of: JSONDocument(members: (whole.members ?? []).filter { !inner.contains($0.name) }), depth: depth + 1)
        }
    }

    /// A schema with what another one adds.
    private static func merged(_ one: JSONDocument, _ other: JSONDocument) -> JSONDocument {
        guard one.kind == .object else { return other }
        guard other.kind == .object else { return one }
        var members = one.members ?? []
        for (name, value) in other.members ?? [] {
            guard let place = members.firstIndex(where: { $0.name == name }) else {
                members.append((name, value))
                continue
            }
            let before = members[place].value
            switch name {
            case "properties":
                var parts = before.members ?? []
                for (name, schema) in value.members ?? [] {
                    if let place = parts.firstIndex(where: { $0.name == name }) {
                        parts[place].value = merged(parts[place].value, schema)
                    } else {
                        parts.append((name, schema))
                    }
                }
                members[place].value = JSONDocument(members: parts)
            case "required": members[place].value = JSONDocument((before.elements ?? []) + (value.elements ?? []))
            case "enum":
                let allowed = value.elements ?? []
                members[place].value = JSONDocument((before.elements ?? []).filter(allowed.contains))
            case "type", "default", "examples": break
            default: members[place].value = value
            }
        }
        return JSONDocument(members: members)
    }

    private func plain(_ schema: JSONDocument, _ aims: [Aim], count: Int?, depth: Int) -> [JSONDocument] {
        if let constant = schema[member: "const"] { return [constant] }
        if let choices = schema[member: "enum"]?.elements { return choices }
        var candidates: [JSONDocument] = []
        if aims.isEmpty, count == nil {
            candidates += schema[member: "default"].map { [$0] } ?? []
            candidates += schema[member: "examples"]?.elements ?? []
        }
        let type = schema[member: "type"]
        for type in type?.elements?.compactMap(\.string) ?? type?.string.map({ [$0] }) ?? types(of: schema, aims) {
            candidates += values(of: type, schema, aims, count: count, depth: depth)
        }
        return candidates
    }

    /// The types that a schema without one is probably about.
    private func types(of schema: JSONDocument, _ aims: [Aim]) -> [String] {
        func has(_ keys: String...) -> Bool { keys.contains { schema[member: $0] != nil } }
        if let first = aims.first?.tokens.first { return Int(first) == nil && first != "-" ? ["object"] : ["array"] }
        if has("properties", "required") { return ["object"] }
        if has("items", "minItems", "contains") { return ["array"] }
        if has("minLength", "maxLength", "pattern", "format") { return ["string"] }
        if has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") { return ["integer"] }
        return ["boolean", "string", "integer"]
    }

    private func values(
        of type: String, _ schema: JSONDocument, _ aims: [Aim], count: Int?, depth: Int
    ) -> [JSONDocument] {
        switch type {
        case "null": [nil]
        case "boolean": [true, false]
        case "string": texts(schema, count: count).map { JSONDocument($0) }
        case "integer", "number": numbers(schema)
        case "array": arrays(schema, aims, count: count, depth: depth)
        case "object": objects(schema, aims, depth: depth)
        default: []
        }
    }

    private func texts(_ schema: JSONDocument, count: Int?) -> [String] {
        let least = count ?? schema[member: "minLength"]?.int ?? 0
        if let format = schema[member: "format"]?.string.flatMap(texts(ofFormat:)) { return format }
        if let pattern = schema[member: "pattern"]?.string {
            let texts = PatternSample.texts(for: pattern, length: max(least, 1))
            // A pattern without an end may be followed by anything.
            return texts + texts.map { $0 + String(repeating: "x", count: max(0, min(least, 1000) - $0.count)) }
        }
        return [String(repeating: "x", count: min(max(least, count == nil ? 1 : 0), 1000)), ""]
    }

    private func texts(ofFormat format: String) -> [String]? {
        let day: Int64 = 86_400_000
        func time(_ days: Int64) -> String { Timestamp(millisecondsSince1970: max(0, now + days * day)).description }
        let days: [Int64] = [0, 1, 30, -1, 11_000, 400, -6570, -6580, -11_000]
        return switch format {
        case "date-time": days.map(time)
        case "date": days.map { String(time($0).prefix(10)) }
        case "time": ["12:00:00Z"]
        case "email", "idn-email": ["ada@example.org"]
        case "uri", "uri-reference", "iri", "iri-reference": ["https://example.org/"]
        case "hostname", "idn-hostname": ["example.org"]
        case "ipv4": ["192.0.2.1"]
        case "ipv6": ["2001:db8::1"]
        case "uuid": ["123e4567-e89b-12d3-a456-426614174000"]
        default: nil
        }
    }

    private func numbers(_ schema: JSONDocument) -> [JSONDocument] {
        func bound(_ key: String) -> JSONDocument? { schema[member: key] }
        func beside(_ key: String, _ step: Int) -> JSONDocument? {
            bound(key).flatMap { known in
                known.int.map { JSONDocument($0 &+ step) } ?? known.double.map { JSONDocument($0 + Double(step)) }
            }
        }
        let low = bound("minimum") ?? beside("exclusiveMinimum", 1)
        let high = bound("maximum") ?? beside("exclusiveMaximum", -1)
        let step = bound("multipleOf")
        return [low, high, step].compactMap(\.self) + [1, 0]
    }

    private func arrays(_ schema: JSONDocument, _ aims: [Aim], count: Int?, depth: Int) -> [JSONDocument] {
        let aimed = aims.compactMap { $0.tokens.first.flatMap { $0 == "-" ? 1 : Int($0).map { $0 + 1 } } }.max() ?? 0
        let least = max(schema[member: "minItems"]?.int ?? 0, aimed, schema[member: "contains"] == nil ? 0 : 1)
        let length = min(count ?? least, 100)
        let items = schema[member: "items"]
        let isUnique = schema[member: "uniqueItems"]?.bool == true
        func element(_ place: Int) -> [JSONDocument] {
            let schema =
                items?.elements.map { place < $0.count ? $0[place] : true } ?? items ?? schema[member: "contains"]
            guard let schema else { return [true] }
            return candidates(for: schema, aims.compactMap { $0.below(String(place)) }, depth: depth + 1)
        }
        let plain = element(length)
        let elements = (0..<length).map { place -> JSONDocument in
            let own = aims.isEmpty && items?.elements == nil ? plain : element(place)
            return own.isEmpty ? true : own[isUnique ? place % own.count : 0]
        }
        guard count == nil, aims.isEmpty, items?.elements == nil else { return [JSONDocument(elements)] }
        let others = element(0).prefix(4)
        let most = isUnique ? 1 : min(schema[member: "maxItems"]?.int ?? 3, 5)
        return [JSONDocument(elements)] + (length == 0 ? others.map { JSONDocument([$0]) } : [])
            + others.map { JSONDocument(Array(repeating: $0, count: max(length, most))) }
    }

    /// An object with the required members, then objects that differ from it in one member or more.
    private func objects(_ schema: JSONDocument, _ aims: [Aim], depth: Int) -> [JSONDocument] {
        var absent: Set<String> = []
        for aim in aims {
            guard let name = aim.tokens.first else { continue }
            if case .absent = aim.wanted, aim.tokens.count == 1 { absent.insert(name) } else { absent.remove(name) }
        }
        let known = schema[member: "properties"]?.members ?? []
        let aimed = aims.compactMap(\.tokens.first)
        let required = Set(
            ((schema[member: "required"]?.elements ?? []).compactMap(\.string) + aimed).filter { !absent.contains($0) })
        var choices: [(name: String, values: [JSONDocument])] = []
        for (name, schema) in known where !absent.contains(name) {
            let own = candidates(for: schema, aims.compactMap { $0.below(name) }, depth: depth + 1)
            choices.append((name, Array(own.prefix(Self.mostOfPart))))
        }
        for name in required.sorted() where !known.contains(where: { $0.name == name }) {
            let own = aims.compactMap { $0.below(name) }
            choices.append((name, own.isEmpty ? ["x"] : candidates(for: true, own, depth: depth + 1)))
        }
        var plain: [String: JSONDocument] = [:]
        for (name, values) in choices where required.contains(name) {
            guard let first = values.first else { return [] }
            plain[name] = first
        }
        var objects = [plain]
        func add(_ changes: [(String, JSONDocument)]) {
            objects.append(plain.merging(changes) { $1 })
        }
        add(choices.compactMap { choice in choice.values.first.map { (choice.name, $0) } })
        var others: [(name: String, value: JSONDocument)] = []
        for (name, values) in choices {
            others += (required.contains(name) ? values.dropFirst() : values[...]).map { (name: name, value: $0) }
        }
        for (name, value) in others { add([(name, value)]) }
        for (place, one) in others.enumerated() where objects.count < 4 * Self.mostSamples {
            for other in others[(place + 1)...] where other.name != one.name { add([one, other]) }
        }
        return objects.prefix(4 * Self.mostSamples).map { object in
            JSONDocument(members: object.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
        }
    }
}
