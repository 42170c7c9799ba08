import Glibc

/// A problem of the configuration or of a service file. All are found before the first is printed.
package struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Severity: String, Sendable {
        case error, warning
    }

    package let severity: Severity
    package let origin: ValueOrigin
    /// JSON Pointer (RFC 6901) to the place in a file, or of the key that an environment variable or flag sets.
    package let pointer: String
    /// A stable name of the kind of problem, such as `bad_value`.
    package let code: String
    /// A sentence with the problem, the allowed values, and a guess if there is one.
    package let message: String

    package init(
        _ severity: Severity = .error, at origin: ValueOrigin, pointer: String = "", code: String, _ message: String
    ) {
        self.severity = severity
        self.origin = origin
        self.pointer = pointer
        self.code = code
        self.message = message
    }

    /// One line: `config/concierge.json:4:11: error: /port bad_value: port is 70000; …`.
    ///
    /// Names and values come from outside, so all characters that could start a new line are escaped.
    package var description: String {
        let place = pointer.isEmpty ? code : "\(pointer) \(code)"
        let line = "\(origin): \(severity.rawValue): \(place): \(message)"
        return line.unicodeScalars.contains(where: Self.breaksLine) ? Self.escaped(line) : line
    }

    private static func escaped(_ line: String) -> String {
        line.unicodeScalars.map { breaksLine($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

/// Why a file could not be read, as a sentence.
package struct FileProblem: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        case missing
        case notPermitted
        case isDirectory
        case notADirectory
        case notAFile
        case tooLarge(Int)
        case other(Int32)
    }

    package let path: String
    package let reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    init(path: String, errno code: Int32) {
        let reason: Reason
        switch code {
        case ENOENT: reason = .missing
        case EACCES, EPERM: reason = .notPermitted
        case EISDIR: reason = .isDirectory
        case ENOTDIR: reason = .notADirectory
        default: reason = .other(code)
        }
        self.init(path: path, reason: reason)
    }

    /// The stable name of the reason in the output of `concierge check`.
    package var code: String {
        switch reason {
        case .missing: "missing_file"
        case .notPermitted, .other: "unreadable_file"
        case .isDirectory, .notADirectory, .notAFile: "wrong_file_kind"
        case .tooLarge: "file_too_large"
        }
    }

    package var description: String {
        switch reason {
        case .missing: "\(path) does not exist"
        case .notPermitted: "\(path) may not be read by this user"
        case .isDirectory: "\(path) is a directory, not a file"
        case .notADirectory: "\(path) is not a directory, or something on its way is not one"
        case .notAFile: "\(path) is not an ordinary file"
        case .tooLarge(let limit): "\(path) is larger than \(limit) bytes"
        case .other(let code): "\(path) could not be read (system error \(code))"
        }
    }
}

/// Operations on paths as text, without the file system.
package enum PathText {
    /// `name` relative to `directory`; an absolute name stays as it is.
    package static func join(_ directory: String, _ name: String) -> String {
        if directory.isEmpty || name.utf8.first == UInt8(ascii: "/") { return name }
        return directory.utf8.last == UInt8(ascii: "/") ? directory + name : "\(directory)/\(name)"
    }

    /// The directory of a path, empty when there is none: `config` for `config/concierge.json`.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
