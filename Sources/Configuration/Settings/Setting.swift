import JSONDocument

/// A type of settings: the allowed values, how they are read from any source and how they are shown.
package struct Setting<Value: Sendable>: Sendable {
    /// The word in the type column of the reference.
    let name: String
    /// The allowed values, to follow "allowed is": `an integer from 0 to 65535`.
    let allowed: String
    /// An example, to follow "as in", if `allowed` does not contain one.
    var examples: String?
    /// The JSON Schema (draft 7) of its values in a file. It may take more than ``read``.
    let schema: JSONDocument
    /// The value; `nil` when it is not allowed.
    let read: @Sendable (WrittenValue) -> Value?
    /// The value as JSON text that ``read`` accepts.
    let show: @Sendable (Value) -> String
    /// What is wrong with a value that is not allowed, to follow the key's name; `nil` to say what the value is.
    var fault: @Sendable (WrittenValue) -> String? = { _ in nil }
    /// What the operator may have meant, if there is a guess.
    var guess: @Sendable (WrittenValue) -> String? = { _ in nil }
    /// Whether it must not be printed.
    var isSecret = false
    /// Whether it is a path, which in a file is relative to that file.
    var isPath = false

    static var hidden: String { "has a value that is not allowed (not shown)" }

    /// The sentence about a value that is not allowed. It does not contain a secret value.
    func refusal(of written: WrittenValue, as name: String) -> String {
        let given = isSecret ? Self.hidden : fault(written) ?? "is \(written.shown)"
        let asIn = examples.map { ", as in \($0)" } ?? ""
        let guess = isSecret ? nil : guess(written)
        return "\(name) \(given); allowed is \(allowed)\(asIn)" + (guess.map { "; did you mean \($0)?" } ?? "")
    }

    /// A setting that may be missing; a file may also contain `null`.
    static func optional<Wrapped>(_ wrapped: Setting<Wrapped>) -> Self where Value == Wrapped? {
        Self(
            name: wrapped.name, allowed: wrapped.allowed, examples: wrapped.examples,
            schema: ["anyOf": [wrapped.schema, ["type": "null"]]],
            read: { $0 == .null ? .some(nil) : wrapped.read($0).map { .some($0) } },
            show: { $0.map { wrapped.show($0) } ?? "null" }, fault: wrapped.fault, guess: wrapped.guess,
            isSecret: wrapped.isSecret, isPath: wrapped.isPath)
    }
}

extension Setting where Value: CaseIterable & RawRepresentable<String> {
    /// One of a few words: the raw values of an enumeration.
    static var choice: Self {
        let words = Value.allCases.map(\.rawValue)
        return Self(
            name: "choice",
            allowed: words.count == 1 ? "only \(words[0])" : "one of " + words.joined(separator: ", "),
            schema: ["enum": JSONDocument(words.map { JSONDocument($0) })],
            read: { $0.string.flatMap { Value(rawValue: $0) } }, show: { $0.rawValue.inJSON },
            guess: { $0.string.flatMap { NearestName.of($0, among: words) }.map { "\"\($0)\"" } })
    }
}

extension Setting where Value == Bool {
    /// `true` or `false`, and no other words for them.
    static var boolean: Self {
        Self(
            name: "boolean", allowed: "true or false", schema: ["type": "boolean"],
            read: {
                switch $0 {
                case .boolean(let flag): flag
                case .plain(let text): Bool(text)
                default: nil
                }
            },
            show: { "\($0)" },
            guess: { written in
                let word =
                    written.string?.lowercased() ?? (written == .integer(1) ? "1" : written == .integer(0) ? "0" : "")
                switch word {
                case "true", "yes", "on", "1": return "true"
                case "false", "no", "off", "0": return "false"
                default: return nil
                }
            })
    }
}

/// What callers without a session's token may know of flows.
package enum FlowsPublic: Sendable, Equatable, ExpressibleByBooleanLiteral {
    case nothing
    /// Names, titles, screens and events.
    case outlines
    /// The whole definitions.
    case definitions

    package init(booleanLiteral value: Bool) { self = value ? .outlines : .nothing }
}

extension Setting where Value == FlowsPublic {
    /// `true`, `false` or `"definitions"`.
    static var flowsPublic: Self {
        let flag = Setting<Bool>.boolean
        return Self(
            name: "boolean or choice", allowed: "true, false or definitions",
            schema: ["enum": [true, false, "definitions"]],
            read: { written in
                flag.read(written).map { $0 ? .outlines : .nothing }
                    ?? (written.string == "definitions" ? .definitions : nil)
            },
            show: {
                switch $0 {
                case .nothing: "false"
                case .outlines: "true"
                case .definitions: "\"definitions\""
                }
            },
            guess: { flag.guess($0) ?? ($0.string?.hasPrefix("def") == true ? "definitions" : nil) })
    }
}
