import JSONDocument
import Navigation

/// Short texts for guards.
struct GraphText {
    private let definition: FlowDefinition

    init(_ definition: FlowDefinition) { self.definition = definition }

    /// Longer texts are cut: the drawing gives an overview, the file the details.
    static let longestText = 80

    func of(_ guard: Guard) -> String {
        switch `guard` {
        case .named(let place): definition.guards[place].name
        case .shape(of: let path, let shape): Self.shape(shape, of: path)
        case .all(let parts): parts.map(inner).joined(separator: " and ")
        case .any(let parts): parts.map(inner).joined(separator: " or ")
        case .not(let part): "not " + inner(part)
        case .compare(let left, let comparison, let right):
            "\(value(left)) \(comparison.rawValue) \(value(right))"
        case .isTrue(let path): Self.path(path)
        case .has(let path): "\(Self.path(path)) is there"
        case .isIn(let one, let list): "\(value(one)) in \(value(list))"
        case .quantified(let quantifier, let list, let part):
            "\(quantifier.rawValue) of \(value(list)): \(inner(part))"
        }
    }

    /// The text on one line, cut to ``longestText``.
    static func fitting(_ text: String) -> String {
        var line = String.UnicodeScalarView(
            text.unicodeScalars.prefix(longestText + 1).map { isPrintable($0) ? $0 : " " })
        if line.count > longestText {
            line.removeLast(2)
            line.append("…")
        }
        return String(line)
    }

    /// The text of a part, in brackets where it would be ambiguous without.
    private func inner(_ part: Guard) -> String {
        switch part {
        case .all(let parts) where parts.count > 1: "(\(of(part)))"
        case .any(let parts) where parts.count > 1: "(\(of(part)))"
        default: of(part)
        }
    }

    /// The required members of a schema, if it has any.
    private static func shape(_ shape: ShapeRule, of path: DataPath) -> String {
        let required = shape.document[member: "required"]?.elements?.compactMap(\.string) ?? []
        let root = path.text.dropFirst()
        return required.isEmpty ? "\(root) fits" : "\(root) with \(required.joined(separator: ", "))"
    }

    /// The names of the members that a template makes.
    static func names(in template: ValueTemplate) -> String {
        switch template {
        case .object(let members): members.map(\.name).joined(separator: ", ")
        case .literal(let value): (value.members ?? []).map(\.name).joined(separator: ", ")
        default: "…"
        }
    }

    /// A value in the notation of arithmetic.
    func value(_ template: ValueTemplate) -> String {
        switch template {
        case .literal(let value): value.description
        case .from(let path, _): Self.path(path)
        case .array, .object: "a value"
        case .call(let function, let arguments):
            switch function {
            case .add: arguments.map(value).joined(separator: " + ")
            case .subtract: arguments.map(value).joined(separator: " - ")
            case .multiply: arguments.map(value).joined(separator: " * ")
            default:
                "\(function.rawValue.dropFirst())(\(arguments.map(value).joined(separator: ", ")))"
            }
        case .list(let function):
            "\(function.kind.rawValue.dropFirst())(\(value(function.of))"
                + (function.each.map { ", \(value($0))" } ?? "")
                + (function.condition.map { " where \(inner($0))" } ?? "")
                + ")"
        case .time(let from, let plus): value(from) + (plus.map { " plus \(value($0))" } ?? "")
        case .day(let time, _): "day(\(value(time)))"
        case .days(let from, let to): "days(\(value(from)), \(value(to)))"
        case .either(let guardian, let one, let other): "(\(of(guardian)) ? \(value(one)) : \(value(other)))"
        }
    }

    private static func path(_ path: DataPath) -> String { path.text + (path.built.isEmpty ? "" : "/…") }

    /// Drawings become XML, which cannot contain control characters or noncharacters.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return category != .control && category != .lineSeparator && category != .paragraphSeparator
            && category != .unassigned
    }
}
