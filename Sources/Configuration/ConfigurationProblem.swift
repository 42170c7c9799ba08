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
