/// Where a value was written, so that a sentence about it can say where to mend it.
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

    /// Whether it stands in the environment or on the command line, which know nothing of what is beside a file.
    var isOutsideFile: Bool {
        switch self {
        case .builtIn, .file: false
        case .environment, .flag: true
        }
    }

    /// Which of two origins of the same kind of value wins: flag over environment over file over default.
    var precedence: Int {
        switch self {
        case .builtIn: 0
        case .file: 1
        case .environment: 2
        case .flag: 3
        }
    }
}
