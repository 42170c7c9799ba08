import JSONDocument

/// A function that looks at each element of a list: `{"$sum": {"of": "/basket/items", "each": "/item/price"}}`.
public struct ListFunction: Sendable {
    /// Which of them it is.
    public let kind: Kind
    /// The list.
    public let of: ValueTemplate
    /// What is added, collected or sorted by; without it in the file, the element itself.
    public let each: ValueTemplate?
    /// `where`: which elements are taken.
    public let condition: Guard?
    /// Whether the greatest element is the first.
    public let isDescending: Bool

    /// The functions that look at each element of a list.
    public enum Kind: String, Sendable, CaseIterable {
        /// The sum of numbers, exact.
        case sum = "$sum"
        /// A list of what is made of each element.
        case map = "$map"
        /// The elements for which a guard holds.
        case filter = "$filter"
        /// The first element for which a guard holds, or null.
        case find = "$find"
        /// The elements in the order of their values; equal ones stay in the order in which they were.
        case sort = "$sort"

        /// The keys of its object, behind `of`.
        var keys: [String] {
            switch self {
            case .sum, .map: ["each"]
            case .filter, .find: ["where"]
            case .sort: ["by", "descending"]
            }
        }
    }
}

extension FlowReader {
    mutating func readListFunction(
        _ kind: ListFunction.Kind, _ node: FlowNode, _ context: DataContext
    ) -> ValueTemplate? {
        guard let (list, inner) = readList(node, kind.keys, context) else { return nil }
        var each: ValueTemplate?
        var condition: Guard?
        switch kind {
        case .sum, .sort:
            let written = node[kind == .sum ? "each" : "by"]
            guard let value = written.map({ readArgument($0, inner) }) ?? .from(.item, default: nil) else { return nil }
            checkEach(value, of: kind, at: written?.place ?? node["of"]?.place ?? node.place, inner)
            each = value
        case .map:
            guard let written = required("each", in: node, ": what is made of each element"),
                let value = readArgument(written, inner)
            else { return nil }
            each = value
        case .filter, .find:
            guard let written = required("where", in: node, ": the guard that an element must fit"),
                let guardian = readGuard(written, inner)
            else { return nil }
            condition = guardian
        }
        return .list(
            ListFunction(
                kind: kind, of: list, each: each, condition: condition, isDescending: bool(node["descending"]) ?? false
            ))
    }

    /// Reads `{"every": {"of": …, "where": …}}`.
    mutating func readQuantified(_ quantifier: Quantifier, _ node: FlowNode, _ context: DataContext) -> Guard? {
        guard let (list, inner) = readList(node, ["where"], context),
            let written = required("where", in: node, ": the guard that \(node.key) element must fit"),
            let guardian = readGuard(written, inner)
        else { return nil }
        return .quantified(quantifier, of: list, where: guardian)
    }

    /// Reads `{"in": [value, list]}`.
    mutating func readMembership(_ node: FlowNode, _ context: DataContext) -> Guard? {
        guard let parts = node.elements, parts.count == 2 else {
            return refuse(
                node, .badValue,
                "in is an array of two: a value and a list, as in [\"/order/kind\", [\"meal\", \"drink\"]]")
        }
        guard let value = readArgument(parts[0], context), let list = readArgument(parts[1], context) else {
            return nil
        }
        if checkKind(of: list, .list, "in", at: parts[1].place, context) {
            checkMembership(value, list, at: node.place, context)
        }
        return .isIn(value, list)
    }

    /// Reads `of`, and the context in which the elements are looked at.
    private mutating func readList(
        _ node: FlowNode, _ keys: [String], _ context: DataContext
    ) -> (list: ValueTemplate, inner: DataContext)? {
        guard node.isObject else {
            return refuse(
                node, .wrongType,
                "\(node.key) takes an object, as in {\"of\": \"/basket/items\", \"\(keys[0])\": …}, not \(node.kind)")
        }
        checkKeys(of: node, allowed: ["of"] + keys, node.key)
        guard let written = required("of", in: node, ": the list"), let list = readArgument(written, context) else {
            return nil
        }
        checkKind(of: list, .list, node.key, at: written.place, context)
        var inner = context
        inner.item = elementSchema(of: list, context)
        return (list, inner)
    }
}
