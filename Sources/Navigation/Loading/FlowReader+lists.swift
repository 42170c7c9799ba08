import JSONDocument

/// What schemas say about lists and their elements.
extension FlowReader {
    /// A schema that each element of a list fits; `true` where nothing is known.
    func elementSchema(of list: ValueTemplate, _ context: DataContext) -> JSONDocument {
        switch list {
        case .from(let path, nil): return path.built.isEmpty ? schema(at: path.appending(["0"]), context) : true
        case .from(let path, .literal(let fallback)?) where fallback.elements?.isEmpty == true:
            return elementSchema(of: .from(path, default: nil), context)
        case .literal(let value):
            guard let elements = value.elements, !elements.isEmpty else { return true }
            return ["enum": JSONDocument(elements)]
        default: return Self.items(of: schema(of: list, context))
        }
    }

    private static func items(of schema: JSONDocument) -> JSONDocument {
        schema[member: "items"].flatMap { $0.kind == .object ? $0 : nil } ?? true
    }

    func schema(of function: ListFunction, _ context: DataContext) -> JSONDocument {
        let element = elementSchema(of: function.of, context)
        switch function.kind {
        case .sum: return ["type": "number"]
        case .filter, .sort: return ["type": "array", "items": element]
        case .find: return element == true ? true : ["anyOf": [element, ["type": "null"]]]
        case .map:
            var inner = context
            inner.item = element
            return ["type": "array", "items": function.each.map { schema(of: $0, inner) } ?? true]
        }
    }

    func schema(of function: ValueFunction, _ arguments: [ValueTemplate], _ context: DataContext) -> JSONDocument {
        func element() -> JSONDocument { arguments.first.map { elementSchema(of: $0, context) } ?? true }
        switch function {
        case .add, .subtract, .multiply, .round: return ["type": "number"]
        case .concat, .trim, .lower, .upper, .join: return ["type": "string"]
        case .count: return ["type": "integer", "minimum": 0]
        case .unique: return ["type": "array", "items": element()]
        case .min, .max: return element()
        case .keys: return ["type": "array", "items": ["type": "string"]]
        case .slice:
            // Asked once: they may be nested.
            let whole = arguments.first.map { schema(of: $0, context) } ?? true
            let kinds = SchemaOverlap.kinds(of: whole)
            if !kinds.contains(.list) { return ["type": "string"] }
            if kinds.contains(.text) { return ["type": ["array", "string"]] }
            let isPlain =
                switch arguments.first {
                case .from, .literal: true
                default: false
                }
            return ["type": "array", "items": isPlain ? element() : Self.items(of: whole)]
        }
    }

    /// Reports what can be neither added nor sorted by.
    ///
    /// - Parameter context: that of the elements.
    mutating func checkEach(
        _ value: ValueTemplate, of kind: ListFunction.Kind, at place: JSONPointer, _ context: DataContext
    ) {
        let found = kinds(of: value, context)
        guard found.isDisjoint(with: kind == .sum ? .number : [.number, .text]) else { return }
        let hint = kind == .sum && found == .text ? "; strings are joined by {\"$join\": [list, \", \"]}" : ""
        report(
            place, .badValue,
            kind == .sum
                ? "$sum adds numbers, but this is \(found.phrase)\(hint)"
                : "$sort takes numbers, times or other strings, but this is \(found.phrase), which has no order")
    }

    /// Reports that a value is never in a list, as far as their types say.
    mutating func checkMembership(
        _ value: ValueTemplate, _ list: ValueTemplate, at place: JSONPointer, _ context: DataContext
    ) {
        let (one, other) = (schema(of: value, context), elementSchema(of: list, context))
        let (kinds, kindsInList) = (SchemaOverlap.kinds(of: one), SchemaOverlap.kinds(of: other))
        if kinds.isDisjoint(with: kindsInList), !kinds.contains(.null), !kindsInList.contains(.null) {
            report(
                place, .guardNever,
                "the value is \(kinds.phrase), and each element of the list is \(kindsInList.phrase), so this never "
                    + "holds")
        } else if case .literal(let literal) = list, SchemaOverlap.isEmpty(one, other),
            literal.elements?.contains(where: { $0.string.flatMap(CalendarTime.init) != nil }) == false
        {
            report(place, .guardNever, "its schema allows no value that is in the list, so this never holds")
        }
    }
}
