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
    /// The result of looking at each element of a list.
    case list(ListFunction)

    /// The templates that it consists of; the operands of a guard in it behind the values.
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
        case .list(let function):
            [function.of] + [function.each].compactMap(\.self) + (function.condition?.operands ?? [])
        }
    }

    /// The guards in it.
    var guards: [Guard] {
        switch self {
        case .either(let guardian, let one, let other): [guardian] + one.guards + other.guards
        case .list(let function):
            [function.condition].compactMap(\.self) + function.of.guards + (function.each?.guards ?? [])
        default: parts.flatMap(\.guards)
        }
    }

    /// The paths that have no default, so that the template needs a value there.
    public var neededPaths: [DataPath] {
        switch self {
        case .from(let path, nil): path.built.flatMap(\.neededPaths) + [path]
        // The guard says which of the values is needed.
        case .either(let guardian, _, _): guardian.operands.flatMap(\.neededPaths)
        // The elements are there when they are looked at.
        case .list: parts.flatMap(\.neededPaths).filter { $0.root != .item && $0.root != .index }
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
