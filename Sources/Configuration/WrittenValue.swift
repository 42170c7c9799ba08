/// A value as an operator wrote it, before its key is known.
package enum WrittenValue: Sendable, Equatable {
    /// A JSON string of a file.
    case text(String)
    /// The text of an environment variable or a flag, which may also stand for a number, a list or a boolean.
    case plain(String)
    case integer(Int)
    case boolean(Bool)
    case list([WrittenValue])
    case null
    /// A value that no key takes, as a part of a sentence: `an object`.
    case other(String)

    /// The text, if the value is one.
    var string: String? {
        switch self {
        case .text(let text), .plain(let text): text
        default: nil
        }
    }

    /// The items of a list, which outside of a file are divided by commas; `nil` when it is not a list. An item that is
    /// not a text is `nil`.
    var items: [String?]? {
        switch self {
        // Only strings: lists never contain `.plain`.
        case .list(let values): values.map(\.string)
        case .plain(let text):
            text.split(separator: ",").map { item in
                String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        default: nil
        }
    }

    /// The value for a sentence: quoted, on one line, and not longer than a line.
    var shown: String {
        switch self {
        case .text(let text), .plain(let text): text.quoted
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .list(let items): items.isEmpty ? "an empty array" : "an array of \(items.count)"
        case .null: "null"
        case .other(let name): name
        }
    }
}

/// Where a value was written, for messages.
package enum ValueOrigin: Sendable, Equatable, CustomStringConvertible {
    case builtIn
    case file(path: String, line: Int?, column: Int?)
    case environment(String)
    case flag(String)

    package static func file(_ path: String) -> ValueOrigin {
        .file(path: path, line: nil, column: nil)
    }

    package var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let path, let line?, let column?): "\(path):\(line):\(column)"
        case .file(let path, _, _): path
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag \(name)"
        }
    }

    /// Whether the source is the environment or the command line, which do not depend on the file's directory.
    package var isOutsideFile: Bool {
        switch self {
        case .builtIn, .file: false
        case .environment, .flag: true
        }
    }

    /// Decides between two origins of a value: a flag wins over the environment, the file, and the default.
    var precedence: Int {
        switch self {
        case .builtIn: 0
        case .file: 1
        case .environment: 2
        case .flag: 3
        }
    }
}
