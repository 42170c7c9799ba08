import JSONDocument
import Navigation

/// Finds what the data should be for a guard to hold, or not: for constants, for other values that are known, for what
/// must be there, and for schemas. What is computed from several values it does not solve.
struct WishFinder {
    let flow: FlowDefinition
    /// The value of a template, where it is known.
    let value: (ValueTemplate) -> JSONDocument?

    /// Of each guard there are no more ways than that, each of which is tried as an event's data.
    private static let most = 6

    init(_ look: FlowLook) { self.init(look.flow, look.value) }

    init(_ flow: FlowDefinition, _ value: @escaping (ValueTemplate) -> JSONDocument?) {
        (self.flow, self.value) = (flow, value)
    }

    /// - Returns: alternatives, each of which may be enough.
    func ways(to guardian: Guard, holds: Bool = true) -> [[Wish]] {
        switch guardian {
        case .named(let place): return ways(to: flow.guards[place].guard, holds: holds)
        case .not(let part): return ways(to: part, holds: !holds)
        case .all(let parts): return holds ? together(parts, hold: true) : either(parts, hold: false)
        case .any(let parts): return holds ? either(parts, hold: true) : together(parts, hold: false)
        case .isTrue(let path): return wish(path, .value(JSONDocument(holds)))
        case .has(let path): return wish(path, holds ? .present : .absent)
        case .shape(let path, let rule): return shape(rule.document, at: path, holds)
        case .compare(let left, let sign, let right):
            return Array(
                (sides(left, holds ? sign : sign.opposite, right)
                    + sides(right, (holds ? sign : sign.opposite).mirrored, left)).prefix(Self.most))
        case .isIn(let one, let list):
            guard let path = plain(one), let elements = value(list)?.elements else { return [] }
            if holds { return elements.prefix(Self.most).flatMap { wish(path, .value($0)) } }
            return others(than: elements.first ?? .null).flatMap { wish(path, .value($0)) }
        case .quantified(let quantifier, let list, let part):
            guard let path = plain(list) else { return [] }
            // One element decides whether some do, or not all.
            if (quantifier == .some) == holds { return inElement(of: path, ways(to: part, holds: holds)) }
            return inElement(of: path, ways(to: part, holds: quantifier == .every)) + wish(path, .count(0))
        }
    }

    private func either(_ parts: [Guard], hold: Bool) -> [[Wish]] {
        Array(parts.flatMap { ways(to: $0, holds: hold) }.prefix(2 * Self.most))
    }

    private func together(_ parts: [Guard], hold: Bool) -> [[Wish]] {
        parts.reduce([[]]) { found, part in
            let ways = ways(to: part, holds: hold)
            // What cannot be solved may hold all the same.
            if ways.isEmpty { return found }
            return Array(found.flatMap { before in ways.map { before + $0 } }.prefix(2 * Self.most))
        }
    }

    private func wish(_ path: DataPath, _ wanted: Wish.Wanted) -> [[Wish]] {
        guard path.built.isEmpty else { return [] }
        return [[Wish(root: path.root, tokens: path.pointer.tokens, wanted: wanted)]]
    }

    private func inElement(of list: DataPath, _ ways: [[Wish]]) -> [[Wish]] {
        ways.map { way in
            way.map { wish in
                wish.root == .item ? wish.moved(to: list.root, list.pointer.tokens + ["0"] + wish.tokens) : wish
            }
        }
    }

    /// The path of which a template is the value, maybe in other letters or as a day.
    private func plain(_ template: ValueTemplate) -> DataPath? {
        switch template {
        case .from(let path, _): return path.built.isEmpty && path.root != .now ? path : nil
        case .call(.trim, let arguments), .call(.lower, let arguments), .call(.upper, let arguments),
            .call(.round, let arguments):
            return arguments.first.flatMap(plain)
        case .day(let time, _): return plain(time)
        case .call(.add, let arguments), .call(.subtract, let arguments), .call(.multiply, let arguments):
            // With others that are zero, or one, it is near.
            return arguments.lazy.compactMap(plain).first
        case .list(let function) where function.kind == .sum:
            guard let list = plain(function.of) else { return nil }
            let each = function.each.flatMap(plain)
            guard each == nil || each?.root == .item else { return nil }
            let rest = ["0"] + (each?.pointer.tokens ?? [])
            return DataPath(list.text + JSONPointer(rest).description)
        default: return nil
        }
    }

    private func sides(_ left: ValueTemplate, _ sign: Comparison, _ right: ValueTemplate) -> [[Wish]] {
        guard let known = value(right) else { return [] }
        if case .call(.count, let arguments) = left, let path = arguments.first.flatMap(plain) {
            guard let number = known.int else { return [] }
            return values(sign, known).compactMap(\.int).filter { $0 >= 0 && abs($0 &- number) <= 1 }
                .flatMap { wish(path, .count($0)) }
        }
        if case .days(let from, let to) = left {
            return values(sign, known).flatMap { days($0, between: from, and: to) }
        }
        guard let path = plain(left) else { return [] }
        return values(sign, known).flatMap { value in
            value.isNull ? wish(path, .absent) + wish(path, .value(value)) : wish(path, .value(value))
        }
    }

    /// From a day that is known, or else from today, so many days on.
    private func days(_ count: JSONDocument, between from: ValueTemplate, and to: ValueTemplate) -> [[Wish]] {
        guard let number = count.int, let end = plain(to), let now = DataPath("/now") else { return [] }
        let start = plain(from)
        guard let first = value(start == nil ? from : .day(of: .from(now, default: nil), in: nil)),
            let last = value(
                .time(
                    from: .literal(first),
                    plus: .literal(JSONDocument(number < 0 ? "-P\(number.magnitude)D" : "P\(number)D"))))
        else { return [] }
        let beginning = start.map { wish($0, .value(first)) } ?? [[]]
        return beginning.flatMap { before in wish(end, .value(last)).map { before + $0 } }
    }

    /// Values that compare like that, those at the boundary first.
    private func values(_ sign: Comparison, _ known: JSONDocument) -> [JSONDocument] {
        switch sign {
        case .equal: [known]
        case .notEqual: others(than: known)
        case .less: beside(known, -1)
        case .lessOrEqual: [known] + beside(known, -1)
        case .greater: beside(known, 1)
        case .greaterOrEqual: [known] + beside(known, 1)
        }
    }

    private func beside(_ known: JSONDocument, _ sign: Int) -> [JSONDocument] {
        if let number = known.int {
            return [JSONDocument(number &+ sign), JSONDocument(number &+ 100 &* sign)]
        }
        if let number = known.double {
            return [JSONDocument(number + Double(sign)), JSONDocument(number + 0.01 * Double(sign))]
        }
        guard known.string != nil else { return [] }
        let moments = ["P1D", "P20Y"].compactMap { distance in
            value(.time(from: .literal(known), plus: .literal(JSONDocument(sign < 0 ? "-\(distance)" : distance))))
        }
        return moments.isEmpty ? [sign < 0 ? "" : JSONDocument((known.string ?? "") + "z")] : moments
    }

    private func others(than known: JSONDocument) -> [JSONDocument] {
        switch known.kind {
        case .bool: [JSONDocument(known.bool != true)]
        case .string: [JSONDocument((known.string ?? "") + "x"), "x"]
        case .null: ["x", 1, true]
        default: beside(known, 1) + beside(known, -1)
        }
    }

    /// The members of an object that a schema is about.
    private func shape(_ schema: JSONDocument, at path: DataPath, _ holds: Bool) -> [[Wish]] {
        let members = members(schema, path.pointer.tokens, of: path.root)
        if members.isEmpty { return wish(path, holds ? .fits(schema) : .misfits(schema)) }
        if holds { return [members] }
        return members.map { member in
            switch member.wanted {
            case .fits(let schema): [Wish(root: member.root, tokens: member.tokens, wanted: .misfits(schema))]
            default: [Wish(root: member.root, tokens: member.tokens, wanted: .absent)]
            }
        }
    }

    private func members(_ schema: JSONDocument, _ tokens: [String], of root: DataPath.Root) -> [Wish] {
        let known = schema[member: "properties"]?.members ?? []
        var wishes: [Wish] = []
        for (name, part) in known where tokens.count < 8 {
            let inner = members(part, tokens + [name], of: root)
            wishes += inner.isEmpty ? [Wish(root: root, tokens: tokens + [name], wanted: .fits(part))] : inner
        }
        for name in (schema[member: "required"]?.elements ?? []).compactMap(\.string)
        where !known.contains(where: { $0.name == name }) {
            wishes.append(Wish(root: root, tokens: tokens + [name], wanted: .present))
        }
        return wishes
    }
}

extension Comparison {
    fileprivate var opposite: Comparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }

    /// With its sides exchanged.
    fileprivate var mirrored: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
