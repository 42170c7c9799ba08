import JSONDocument

/// A value with references to data, `{"author": {"$from": "/profile/name"}}`, and computed values,
/// `{"$add": [{"$from": "/order/net"}, {"$from": "/order/tax"}]}`.
public indirect enum ValueTemplate: Sendable {
    /// A constant.
    case literal(JSONDocument)
    /// The value at a path, or else the default. With neither, the template has no value.
    case from(DataPath, default: ValueTemplate?)
    /// A list of templates.
    case array([ValueTemplate])
    /// An object whose members are templates.
    case object([(name: String, value: ValueTemplate)])
    /// The result of a function.
    case call(ValueFunction, [ValueTemplate])
    /// A moment, or a day, and what is added to it.
    case time(from: ValueTemplate, plus: ValueTemplate?)
    /// The day of a moment, by the clocks of a zone or in UTC.
    case day(of: ValueTemplate, in: CalendarZone?)
    /// The whole days from one time to another.
    case days(from: ValueTemplate, to: ValueTemplate)
    /// The first value where the guard holds, the second where it fails.
    case either(Guard, ValueTemplate, ValueTemplate)

    /// The templates that it consists of; of a choice with its guard's operands behind the values.
    var parts: [ValueTemplate] {
        switch self {
        case .literal: []
        case .from(let path, let fallback): path.built + [fallback].compactMap(\.self)
        case .array(let parts), .call(_, let parts): parts
        case .object(let members): members.map(\.value)
        case .time(let from, let plus): [from] + [plus].compactMap(\.self)
        case .day(let time, _): [time]
        case .days(let from, let to): [from, to]
        case .either(let guardian, let one, let other): [one, other] + guardian.operands
        }
    }

    /// The paths that have no default, so that the template needs a value there.
    public var neededPaths: [DataPath] {
        switch self {
        case .from(let path, nil): path.built.flatMap(\.neededPaths) + [path]
        // The guard says which of the values is needed.
        case .either(let guardian, _, _): guardian.operands.flatMap(\.neededPaths)
        default: parts.flatMap(\.neededPaths)
        }
    }

    /// Whether a path in it, or in a guard in it, satisfies the condition.
    package func contains(_ isWanted: (DataPath) -> Bool) -> Bool {
        if case .from(let path, _) = self, isWanted(path) { return true }
        return parts.contains { $0.contains(isWanted) }
    }

    /// The path that a person would change: the value's own, or the first one that it is computed from.
    var path: DataPath? {
        if case .from(let path, _) = self { return path }
        return parts.lazy.compactMap(\.path).first
    }
}

extension Guard {
    /// The guards that it consists of, those in named guards not.
    package var parts: [Guard] {
        switch self {
        case .all(let parts), .any(let parts): parts
        case .not(let part): [part]
        case .shape, .named, .compare, .isTrue, .has: []
        }
    }

    /// The values that it compares or looks at, those in its parts included, those in named guards and in schemas not.
    package var operands: [ValueTemplate] {
        switch self {
        case .compare(let left, _, let right): [left, right]
        case .isTrue(let path), .has(let path): [.from(path, default: nil)]
        default: parts.flatMap(\.operands)
        }
    }
}

/// The functions of values. Each is total: it has a result, or says why it has none.
public enum ValueFunction: String, Sendable, CaseIterable {
    /// The sum of numbers, exact.
    case add = "$add"
    /// The difference of two numbers, exact.
    case subtract = "$subtract"
    /// The product of numbers, exact.
    case multiply = "$multiply"
    /// Texts one behind the other. A number stands as it is written in JSON.
    case concat = "$concat"
    /// A text without white space at its ends.
    case trim = "$trim"
    /// A text in small letters.
    case lower = "$lower"
    /// A text in capital letters.
    case upper = "$upper"
    /// How many elements a list or characters a text has.
    case count = "$count"

    /// How many arguments it takes. A function of one takes it as it is, the others take a list.
    var arguments: ClosedRange<Int> {
        switch self {
        case .add, .multiply, .concat: 1...100
        case .subtract: 2...2
        case .trim, .lower, .upper, .count: 1...1
        }
    }
}

/// A place in the data of a step: a JSON Pointer whose first token names a document.
public struct DataPath: Sendable, Equatable {
    /// The document.
    public let root: Root
    /// The place in the document; of a built path, the part before the first computed token.
    public let pointer: JSONPointer
    /// The whole path as the file has it; of a built path, the part before the first computed token.
    public let text: String
    /// The tokens of a built path behind ``pointer``; empty for any other.
    package let built: [ValueTemplate]

    /// The documents that a path can begin with.
    public enum Root: Sendable, Equatable {
        /// The state of a service.
        case service(String)
        /// The data of the event.
        case event
        /// The input of the flow.
        case input
        /// The output of the child that has just ended.
        case output
        /// The output of the command that an action before this one has called.
        case result
        /// The `params` of the top frame.
        case frame
        /// The time of the step, in RFC 3339.
        case now
    }

    /// Nil when `text` is not a JSON Pointer, or is empty.
    public init?(_ text: String) {
        guard let whole = JSONPointer(parsing: text), let first = whole.tokens.first else { return nil }
        root =
            switch first {
            case "event": .event
            case "input": .input
            case "output": .output
            case "result": .result
            case "frame": .frame
            case "now": .now
            default: .service(first)
            }
        pointer = JSONPointer(Array(whole.tokens.dropFirst()))
        self.text = text
        built = []
    }

    /// A path whose last tokens are computed.
    init(_ start: DataPath, built: [ValueTemplate]) {
        root = start.root
        pointer = start.pointer
        text = start.text
        self.built = built
    }

    /// With tokens behind its end.
    func appending(_ tokens: [String]) -> DataPath? {
        DataPath(text + tokens.map { "/" + JSONPointer.escape($0) }.joined())
    }

    /// Whether one is the other, or a part of it.
    func overlaps(_ other: DataPath) -> Bool {
        root == other.root && zip(pointer.tokens, other.pointer.tokens).allSatisfy { $0 == $1 }
    }

    public static func == (one: DataPath, other: DataPath) -> Bool {
        one.text == other.text && one.built.isEmpty && other.built.isEmpty
    }

    /// The service that the path begins with; nil for the other documents.
    public var service: String? {
        if case .service(let name) = root { name } else { nil }
    }

    /// The key of a path that is built.
    static let pointerKey = "$pointer"

    /// Names that services cannot have, because they mean other documents in a path.
    public static let reservedNames = ["event", "input", "output", "result", "frame", "now"]
}
