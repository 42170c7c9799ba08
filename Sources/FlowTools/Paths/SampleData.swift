import JSONDocument
import Navigation

/// Makes data that fits a schema, for schemas as simple as those of events usually are.
///
/// It uses `const`, `enum`, `default`, `examples`, `type`, `properties`, `required`, lengths and bounds. Each sample is
/// checked against the whole schema, so it is right whatever other keywords there are.
struct SampleData {
    /// Each sample is tried in each situation, so more would take long.
    private static let mostSamples = 12

    /// Different samples, the simplest first; empty when none was found.
    static func samples(of rule: ShapeRule?) -> [JSONDocument] {
        guard let rule else { return [.emptyObject] }
        var samples: [JSONDocument] = []
        for sample in [.emptyObject] + candidates(for: rule.document, depth: 0) {
            guard samples.count < mostSamples else { break }
            if rule.accepts(sample), !samples.contains(sample) { samples.append(sample) }
        }
        return samples
    }

    private static func candidates(for schema: JSONDocument, depth: Int) -> [JSONDocument] {
        if let constant = schema[member: "const"] { return [constant] }
        if let choices = schema[member: "enum"]?.elements { return choices }
        var candidates = schema[member: "default"].map { [$0] } ?? []
        candidates += schema[member: "examples"]?.elements ?? []
        guard depth < 8 else { return candidates }
        let type = schema[member: "type"]
        for type in type?.elements?.compactMap(\.string) ?? type?.string.map({ [$0] }) ?? [] {
            candidates += values(of: type, schema, depth: depth)
        }
        if type == nil {
            candidates += schema[member: "properties"] == nil ? [true] : objects(schema, depth: depth)
        }
        return candidates
    }

    private static func values(of type: String, _ schema: JSONDocument, depth: Int) -> [JSONDocument] {
        switch type {
        case "null": return [nil]
        case "boolean": return [true, false]
        case "string":
            let least = schema[member: "minLength"]?.int ?? 0
            return [JSONDocument(String(repeating: "x", count: min(max(least, 1), 1000))), ""]
        case "integer", "number":
            let low = schema[member: "minimum"]?.int ?? schema[member: "exclusiveMinimum"]?.int.map { $0 + 1 }
            let high = schema[member: "maximum"]?.int ?? schema[member: "exclusiveMaximum"]?.int.map { $0 - 1 }
            let step = schema[member: "multipleOf"]?.int
            return [low, high, step, low == nil && high == nil ? 1 : nil].compactMap { $0.map { JSONDocument($0) } }
        case "array":
            let count = min(schema[member: "minItems"]?.int ?? 0, 100)
            let element = schema[member: "items"].flatMap { candidates(for: $0, depth: depth + 1).first } ?? true
            return [JSONDocument(Array(repeating: element, count: count))]
        case "object": return objects(schema, depth: depth)
        default: return []
        }
    }

    /// An object with the required members, then objects that differ from it in one member or more.
    private static func objects(_ schema: JSONDocument, depth: Int) -> [JSONDocument] {
        let required = schema[member: "required"]?.elements?.compactMap(\.string) ?? []
        let known = schema[member: "properties"]?.members ?? []
        var choices: [(name: String, values: [JSONDocument])] = []
        for (name, schema) in known { choices.append((name, candidates(for: schema, depth: depth + 1))) }
        for name in required where !known.contains(where: { $0.name == name }) { choices.append((name, ["x"])) }
        var plain: [(name: String, value: JSONDocument)] = []
        for (name, values) in choices where required.contains(name) {
            guard let first = values.first else { return [] }
            plain.append((name: name, value: first))
        }
        var objects = [plain]
        for (name, values) in choices {
            let others = required.contains(name) ? values.dropFirst() : values[...]
            objects += objects.flatMap { object in others.map { object + [(name: name, value: $0)] } }
            objects = Array(objects.prefix(2 * mostSamples))
        }
        return objects.map { JSONDocument(members: $0) }
    }
}

/// Services with the changes of steps on top, which are never stored.
struct ScratchServices: ServiceDocuments {
    let source: any ServiceDocuments
    private(set) var changed: [String: JSONDocument] = [:]

    init(over source: any ServiceDocuments) { self.source = source }

    mutating func perform(_ changes: [ServiceChange]) {
        for change in changes {
            switch change.effect {
            case .written(let document): changed[change.service] = document
            case .cleared, .removed: changed[change.service] = source.defaultDocument(of: change.service)
            }
        }
    }

    func document(of service: String) -> JSONDocument? { changed[service] ?? source.document(of: service) }

    func defaultDocument(of service: String) -> JSONDocument? { source.defaultDocument(of: service) }

    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] {
        source.violations(of: document, in: service)
    }

    func call(
        _ command: String, of service: String, with input: JSONDocument?, now: Int64, work: inout Int,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        try source.call(
            command, of: service, with: input, now: now, work: &work, reading: document, isLive: isLive)
    }
}
