import HTTPServer
import JSONDocument
import Sessions

/// How the log looks: JSON for programs, text for people.
enum LogForm: Sendable {
    case json, text
}

/// One line of the log, in either form, without its time: the time is put in front when the line joins the buffer.
///
/// ```
/// {"time":"2026-01-31T09:05:07.250Z","level":"info","event":"listening","public":"http://127.0.0.1:8080"}
/// 09:05:07.250 info listening public=http://127.0.0.1:8080
/// ```
///
/// In text, a string that could be misread, because it is empty or has a space, a quote, an equals sign or an escape in it,
/// stays in quotes as JSON has it.
package struct LogLine {
    let form: LogForm
    /// What follows the time; with the line break after ``end()``.
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: about how many bytes will come, to take memory once.
    init(_ form: LogForm, _ level: Configuration.Log.Level, _ event: String, capacity: Int = 256) {
        self.form = form
        bytes.reserveCapacity(capacity)
        switch form {
        case .json:
            append("\"level\":\"")
            bytes += level.rawValue.utf8
            append("\",\"event\":")
            appendString(event)
        case .text:
            bytes += level.rawValue.utf8
            append(" ")
            appendString(event)
        }
    }

    /// Members that many lines have in common, to be added with ``add(_:)``.
    init(_ form: LogForm, members: (inout LogLine) -> Void) {
        self.form = form
        members(&self)
    }

    package mutating func add(_ name: StaticString, _ value: String) {
        beginMember(name)
        appendString(value)
    }

    package mutating func add(_ name: StaticString, _ value: Int) {
        beginMember(name)
        appendDecimal(UInt64(value.magnitude), isNegative: value < 0)
    }

    package mutating func add(_ name: StaticString, _ value: Bool) {
        beginMember(name)
        append(value ? "true" : "false")
    }

    /// Adds a time in milliseconds, with three decimals.
    mutating func add(_ name: StaticString, microseconds: UInt64) {
        beginMember(name)
        appendDecimal(microseconds / 1_000)
        append(".")
        for divisor: UInt64 in [100, 10, 1] {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: microseconds / divisor % 10))
        }
    }

    /// Adds what others of this form have in common.
    mutating func add(_ members: LogLine) { bytes += members.bytes }

    mutating func end() { append(form == .json ? "}\n" : "\n") }
}

extension LogLine {
    /// Adds 32 hexadecimal digits, behind a prefix that needs no escape.
    mutating func add(_ name: StaticString, _ prefix: StaticString, high: UInt64, low: UInt64) {
        beginMember(name)
        if form == .json { append("\"") }
        append(prefix)
        bytes.append(addingCapacity: 2 * Hexadecimal.wordLength) { room in
            room.withUnsafeMutableBufferPointer { room, count in
                guard let start = UnsafeMutableRawPointer(room.baseAddress) else { return }
                Hexadecimal.write(high, to: start)
                Hexadecimal.write(low, to: start + Hexadecimal.wordLength)
                count = 2 * Hexadecimal.wordLength
            }
        }
        if form == .json { append("\"") }
    }

    /// Adds the id of a request, of which no character needs an escape.
    mutating func add(_ name: StaticString, _ id: RequestID) {
        beginMember(name)
        if form == .json { append("\"") }
        id.lend { bytes.append(contentsOf: $0) }
        if form == .json { append("\"") }
    }

    private mutating func beginMember(_ name: StaticString) {
        append(form == .json ? ",\"" : " ")
        append(name)
        append(form == .json ? "\":" : "=")
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func appendDecimal(_ value: UInt64, isNegative: Bool = false) {
        if isNegative { append("-") }
        var divisor: UInt64 = 1
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    private mutating func appendString(_ value: String) {
        if !value.isEmpty, value.utf8.allSatisfy(Self.isPlain) {
            if form == .json { append("\"") }
            bytes += value.utf8
            if form == .json { append("\"") }
        } else {
            appendEscaped(value)
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "="): false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    /// Appends a JSON string that cannot break the line, command a terminal or reorder what is shown: besides what JSON
    /// escapes, DEL, the controls U+0080 to U+009F, the separators of lines and paragraphs, and what changes the direction
    /// of writing.
    private mutating func appendEscaped(_ value: String) {
        append("\"")
        for scalar in value.unicodeScalars {
            switch scalar.value {
            case UInt32(UInt8(ascii: "\"")): append("\\\"")
            case UInt32(UInt8(ascii: "\\")): append("\\\\")
            case 0x0A: append("\\n")
            case 0x00..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069:
                append("\\u")
                for shift: UInt32 in [12, 8, 4, 0] {
                    bytes.append(Hexadecimal.digit(UInt8(scalar.value >> shift & 15)))
                }
            default: bytes += UTF8.encode(scalar).map(Array.init) ?? []
            }
        }
        append("\"")
    }
}
