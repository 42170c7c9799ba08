import JSONDocument

/// A condition on data.
public indirect enum Guard: Sendable {
    /// The document at the path fits the schema: that of a service, the data of the event, or the input of the flow.
    case shape(of: DataPath, ShapeRule)
    /// All of the guards hold.
    case all([Guard])
    /// At least one of the guards holds.
    case any([Guard])
    /// The guard does not hold.
    case not(Guard)
    /// The named guard at an index of ``FlowDefinition/guards``.
    case named(Int)
    /// The two values compare like that.
    case compare(ValueTemplate, Comparison, ValueTemplate)
    /// The value at the path is `true`.
    case isTrue(DataPath)
    /// There is a value at the path, and it is not null.
    case has(DataPath)
    /// The value is equal to an element of the list.
    case isIn(ValueTemplate, ValueTemplate)
    /// The guard holds for elements of the list.
    case quantified(Quantifier, of: ValueTemplate, where: Guard)

    static let keys = FlowKeys([
        "service": .service, "event": [:], "input": [:], "schema": .jsonSchema, "all": .list(of: .ref("guard")),
        "any": .list(of: .ref("guard")), "not": .ref("guard"),
        "compare": ["type": "array", "minItems": 3, "maxItems": 3], "is": .path, "has": .path,
        "in": ["type": "array", "minItems": 2, "maxItems": 2], "every": .ref("quantified"), "some": .ref("quantified"),
    ])
    static let quantifiedKeys = FlowKeys(["of": [:], "where": .ref("guard")], required: ["of", "where"])
}

/// For how many elements of a list a guard must hold.
public enum Quantifier: String, Sendable, CaseIterable {
    /// For all of them; also where there are none.
    case every
    /// For at least one.
    case some
}

extension Guard {
    /// The guards that it consists of, those in named guards and in values not.
    package var parts: [Guard] {
        switch self {
        case .all(let parts), .any(let parts): parts
        case .not(let part), .quantified(_, _, where: let part): [part]
        case .shape, .named, .compare, .isTrue, .has, .isIn: []
        }
    }

    /// The values that it compares or looks at, those in its parts not.
    var values: [ValueTemplate] {
        switch self {
        case .compare(let left, _, let right): [left, right]
        case .isTrue(let path), .has(let path): [.from(path, default: nil)]
        case .isIn(let value, let list): [value, list]
        case .quantified(_, let list, _): [list]
        case .shape, .named, .all, .any, .not: []
        }
    }

    /// The values that it compares or looks at, those in its parts included, those in named guards and in schemas not.
    package var operands: [ValueTemplate] { values + parts.flatMap(\.operands) }

    /// The guards that are asked with it: its parts, and those in its values.
    package var inner: [Guard] { parts + values.flatMap(\.guards) }
}

/// An entry of a flow's `guards`.
public struct NamedGuard: Sendable {
    /// The name, unique in the flow.
    public let name: String
    /// The condition.
    public let `guard`: Guard
    /// The author's text for why it does not hold.
    public let say: TextTemplate?
}

/// How two values are compared: numbers by value, times by what they are (``CalendarTime``), other texts by their code
/// points, everything else only for equality.
///
/// Whether values of different kinds compare like that cannot be decided, but for equality with null; nor whether a
/// time is before a text that is none.
public enum Comparison: String, Sendable, CaseIterable {
    /// The values are equal.
    case equal = "=="
    /// The values differ.
    case notEqual = "!="
    /// The left value is smaller.
    case less = "<"
    /// The left value is smaller, or both are equal.
    case lessOrEqual = "<="
    /// The left value is greater.
    case greater = ">"
    /// The left value is greater, or both are equal.
    case greaterOrEqual = ">="
}

/// A JSON Schema (draft 7), compiled once.
public final class ShapeRule: Sendable {
    let schema: JSONSchema
    /// The members whose values are chosen from data.
    let fields: [FormField]
    /// What its author says to people; nil where the schema alone says it all.
    let texts: SchemaTexts?

    package convenience init(schema: JSONSchema) {
        self.init(schema: schema, texts: SchemaTexts(of: schema.document), fields: [])
    }

    init(schema: JSONSchema, texts: SchemaTexts, fields: [FormField]) {
        self.schema = schema
        self.fields = fields
        self.texts = texts.isNeeded ? texts : nil
    }

    /// The schema with its texts in their first language.
    public var document: JSONDocument { schema.document }

    /// Whether a value fits the schema.
    public func accepts(_ value: JSONDocument) -> Bool { schema.accepts(value) }

    /// Why a value does not fit the schema, with pointers within the value; empty when it fits.
    public func violations(in value: JSONDocument) -> [JSONViolation] {
        violations(in: value) { text in text.said { _ in "…" } }
    }

    /// - Parameter said: an author's text with its values.
    func violations(in value: JSONDocument, saying said: (TextTemplate) -> SaidText) -> [JSONViolation] {
        let violations = schema.violations(in: value)
        return texts == nil ? violations : violations.map { inWords($0, saying: said) }
    }

    /// A violation in the author's own words, where the schema has any for its place.
    func inWords(_ violation: JSONViolation, saying said: (TextTemplate) -> SaidText) -> JSONViolation {
        guard let texts, let place = JSONPointer(parsing: violation.pointer), let text = texts.say(at: place) else {
            return violation
        }
        return JSONViolation(said(text), at: violation.pointer)
    }
}

extension FlowReader {
    private static let sayKey = "say"

    /// - Parameter context: a named guard may be used anywhere; whether its place has an event is checked at its uses.
    mutating func namedGuard(
        _ name: String, _ node: FlowNode, _ context: DataContext = .anything
    ) -> NamedGuard {
        let say = localText(node[Self.sayKey], context.saidOnce)
        let bare = say == nil ? node : FlowNode(value: node.value.merging([Self.sayKey: nil]), place: node.place)
        return NamedGuard(name: name, guard: readGuard(bare, context) ?? .all([]), say: say)
    }

    mutating func readGuard(_ node: FlowNode, _ context: DataContext) -> Guard? {
        if let name = node.string { return readName(name, node) }
        guard node.isObject else {
            let hint = node.value.kind == .array ? "; several are {\"all\": […]} or {\"any\": […]}" : ""
            return refuse(node, .wrongType, "a guard is an object or a guard's name, not \(node.kind)\(hint)")
        }
        checkKeys(of: node, Guard.keys, "a guard")
        let said = Guard.keys.names.filter { $0 != "schema" }.compactMap { node[$0] }
        guard said.count == 1, let part = said.first else {
            // It is a key of another language, which is reported already.
            if said.isEmpty, node.members?.contains(where: { !Guard.keys.names.contains($0.name) }) == true {
                return nil
            }
            return refuse(
                node, said.isEmpty ? .missingKey : .badValue,
                "a guard has exactly one of \(Guard.keys.names.filter { $0 != "schema" }.joinedAsList)")
        }
        if let schema = node["schema"], !["service", "event", "input"].contains(part.key) {
            report(
                schema.place, .unknownKey, "schema goes with service, event or input, not with \(part.key)")
        }
        switch part.key {
        case "all": return readGuards(part, context).map { .all($0) }
        case "any": return readGuards(part, context).map { .any($0) }
        case "not": return readGuard(part, context).map { .not($0) }
        case "compare": return readComparison(part, context)
        case "is":
            guard let path = readPath(part, context) else { return nil }
            checkIsTrue(path, at: part.place, context)
            return .isTrue(path)
        case "has": return readPath(part, context).map { .has($0) }
        case "in": return readMembership(part, context)
        case "every", "some": return Quantifier(rawValue: part.key).flatMap { readQuantified($0, part, context) }
        default: return readShapeGuard(part, of: node, context)
        }
    }

    private mutating func readName(_ name: String, _ node: FlowNode) -> Guard? {
        if let guardian = guardPlaces[name] {
            usedGuards.insert(guardian)
            return .named(guardian)
        }
        if name.contains(where: { "<>=!&|( ".contains($0) }) || name.hasPrefix("/") {
            return refuse(
                node, .unknownGuard,
                "\"\(name)\" is not the name of a guard, and guards are not expressions; write {\"is\": \"/order/gift\"}, "
                    + "{\"has\": …}, {\"compare\": [\"/order/total\", \"<\", 100]}, {\"not\": …} or a schema"
            )
        }
        return refuse(
            node, .unknownGuard, "the flow has no guard \"\(name)\"",
            guess: guess(name, among: guardPlaces.keys.sorted()))
    }

    private mutating func readGuards(_ node: FlowNode, _ context: DataContext) -> [Guard]? {
        guard let list = node.elements else { return refuse(node, expecting: "an array") }
        if list.isEmpty { report(node.place, .badValue, "\(node.key) is an empty array") }
        return list.compactMap { readGuard($0, context) }
    }

    private mutating func readShapeGuard(_ part: FlowNode, of node: FlowNode, _ context: DataContext) -> Guard? {
        guard let schema = required("schema", in: node, ": what \(part.key) must fit") else { return nil }
        let rule = shape(schema, context)
        var name = part.key
        if name == "service" {
            guard let service = text(part), checkService(service, at: part.place) else { return nil }
            if let rule { checkShapeGuard(rule, on: service, at: schema.place) }
            name = service
        } else {
            guard part.value.bool == true else { return refuse(part, .badValue, "\(name) can only be true") }
            if name == "input", isOfService {
                return refuse(
                    part, .badValue, "a command has no input; what is sent is the event", guess: "event")
            }
            if name == "event", case .never = context.event {
                return refuse(part, .guardWithoutEvent, "no event has data here")
            }
        }
        guard let rule, let path = DataPath(JSONPointer([name]).description) else { return nil }
        return .shape(of: path, rule)
    }

    private mutating func readComparison(_ node: FlowNode, _ context: DataContext) -> Guard? {
        guard let parts = node.elements, parts.count == 3 else {
            return refuse(
                node, .badValue,
                "compare is an array of three: a value, a comparison and a value, as in [\"/order/total\", \"<\", 100]")
        }
        let before = problems.count
        let left = readArgument(parts[0], context)
        let right = readArgument(parts[2], context)
        guard let sign = parts[1].string.flatMap({ Comparison(rawValue: $0) }) else {
            return refuse(
                parts[1], .badValue,
                "\(parts[1].quoted) is not a comparison; the comparisons are "
                    + Comparison.allCases.map(\.rawValue).joinedAsList)
        }
        guard let left, let right else { return nil }
        // Of a path that cannot be right nothing more is said.
        if problems.count == before { checkComparison(left, sign, right, at: node.place, context) }
        return .compare(left, sign, right)
    }

    /// Reports guards that nothing uses.
    mutating func checkGuards(_ guards: [NamedGuard]) {
        // Where a guard could not be read, it is not known which others it uses.
        guard !problems.contains(where: \.isAboutGuard) else { return }
        for (place, named) in guards.enumerated() where !usedGuards.contains(place) {
            report(
                JSONPointer(["guards", named.name]), .unusedGuard, "nothing uses the guard \"\(named.name)\"")
        }
    }
}

extension FlowProblem {
    fileprivate var isAboutGuard: Bool {
        severity == .error && (code == .unknownKey || ["guard", "requires", "rules"].contains { pointer.contains($0) })
    }
}
