/// A value as an operator wrote it, before anything is known about the key it is for.
package enum WrittenValue: Sendable, Equatable {
    /// A JSON string of a file.
    case text(String)
    /// The text of an environment variable or a flag, which may mean a number, a list or a boolean too.
    case plain(String)
    case integer(Int)
    case boolean(Bool)
    case list([WrittenValue])
    case null
    /// Anything that no key takes, by what to call it in a sentence: `an object`.
    case other(String)

    /// The text, where the value is one.
    var string: String? {
        switch self {
        case .text(let text), .plain(let text): text
        default: nil
        }
    }

    /// The value as it can stand in a sentence: quoted, on one line, and not longer than a line.
    var shown: String {
        switch self {
        case .text(let text), .plain(let text): Self.quoted(text)
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .list(let items): items.isEmpty ? "an empty list" : "a list of \(items.count)"
        case .null: "null"
        case .other(let name): name
        }
    }

    static func quoted(_ text: String) -> String {
        JSONText.string(text.count <= 60 ? text : text.prefix(59) + "…")
    }
}
