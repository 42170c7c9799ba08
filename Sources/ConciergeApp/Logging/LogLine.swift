import HTTPServer
import JSONDocument
import Sessions

/// How the log looks: JSON for programs, text for people.
enum LogForm: Sendable {
    case json, text
}

/// One line of the log, in either form. The time is put in front when the line joins the buffer.
///
/// ```
/// {"time":"2026-01-31T09:05:07.250Z","level":"info","event":"listening","public":"http://127.0.0.1:8080"}
/// 09:05:07.250 info listening public=http://127.0.0.1:8080
/// ```
///
/// In the text form, a string stays in JSON's quotes if it could be misread: when it is empty or contains a space, a
/// quote, an equals sign or an escape.
///
/// Each request makes a line of about forty parts. So the line owns its memory, and adding a part is one copy. Only
/// ``take(_:)`` knows how much memory there is.
package struct LogLine: ~Copyable {
    let form: LogForm
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    private init(_ form: LogForm, capacity: Int) {
        self.form = form
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit { memory.deallocate() }

    /// - Parameter capacity: about how many bytes will follow, so that memory is taken once.
    init(_ form: LogForm, _ level: Configuration.Log.Level, _ event: String, capacity: Int = 256) {
        self.init(form, capacity: capacity)
        switch form {
        case .json:
            append("\"level\":\"")
            append(level.rawValue)
            append("\",\"event\":")
        case .text:
            append(level.rawValue)
            append(" ")
        }
        appendString(event)
    }

    /// Members that many lines share, for ``add(members:)``.
    static func members(_ form: LogForm, _ add: (inout LogLine) -> Void) -> [UInt8] {
        var line = LogLine(form, capacity: 128)
        add(&line)
        return Array(line.bytes)
    }

    /// What follows the time; with the line break after ``end()``. Valid as long as the line.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    package mutating func add(_ name: StaticString, _ value: String) {
        beginMember(name)
        appendString(value)
    }

    package mutating func add(_ name: StaticString, _ value: Int) {
        beginMember(name)
        if value < 0 { append("-") }
        appendDecimal(UInt64(value.magnitude))
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
        appendDecimal(microseconds % 1_000, width: 3)
    }

    /// Adds members that lines of this form share.
    mutating func add(members: [UInt8]) { members.withUnsafeBytes { append($0) } }

    mutating func end() { append(form == .json ? "}\n" : "\n") }
}

extension LogLine {
    /// Adds 32 hexadecimal digits after a prefix that needs no escape.
    mutating func add(_ name: StaticString, _ prefix: StaticString, high: UInt64, low: UInt64) {
        beginMember(name)
        if form == .json { append("\"") }
        append(prefix)
        Hexadecimal.write(high, to: take(Hexadecimal.wordLength))
        Hexadecimal.write(low, to: take(Hexadecimal.wordLength))
        if form == .json { append("\"") }
    }

    /// Adds the id of a request. None of its characters needs an escape.
    mutating func add(_ name: StaticString, _ id: RequestID) {
        beginMember(name)
        if form == .json { append("\"") }
        id.lend { append(UnsafeRawBufferPointer($0)) }
        if form == .json { append("\"") }
    }

    /// Room for so many more bytes, which the caller writes.
    @inline(__always)
    private mutating func take(_ length: Int) -> UnsafeMutableRawPointer {
        if length > capacity - count { grow(by: length) }
        defer { count += length }
        return memory + count
    }

    @inline(never)
    private mutating func grow(by length: Int) {
        capacity = 2 * (count + length)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
        larger.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        memory = larger
    }

    @inline(__always)
    private mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        take(source.count).copyMemory(from: start, byteCount: source.count)
    }

    @inline(__always)
    private mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func beginMember(_ name: StaticString) {
        append(form == .json ? ",\"" : " ")
        append(name)
        append(form == .json ? "\":" : "=")
    }

    /// - Parameter width: the least number of digits, filled up with zeros.
    private mutating func appendDecimal(_ value: UInt64, width: Int = 1) {
        var digits = 1
        var rest = value / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        digits = max(digits, width)
        let start = take(digits)
        rest = value
        for place in stride(from: digits - 1, through: 0, by: -1) {
            start.storeBytes(
                of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: place, as: UInt8.self)
            rest /= 10
        }
    }

    private mutating func appendString(_ value: String) {
        if !value.isEmpty, value.utf8.allSatisfy(Self.isPlain) {
            if form == .json { append("\"") }
            append(value)
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

    /// Appends a JSON string that cannot break the line, control a terminal or reorder the text. Besides what JSON
    /// escapes, it escapes DEL, the controls U+0080 to U+009F, the separators of lines and paragraphs, and characters
    /// that change the direction of writing.
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
                    take(1).storeBytes(of: Hexadecimal.digit(UInt8(scalar.value >> shift & 15)), as: UInt8.self)
                }
            default: append(String(scalar))
            }
        }
        append("\"")
    }
}
