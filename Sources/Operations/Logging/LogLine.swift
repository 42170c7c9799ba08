import Configuration
import HTTPServer
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
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0

    private init(_ form: LogForm, capacity: Int) {
        self.form = form
        self.capacity = capacity
        memory = .allocate(capacity: capacity)
    }

    deinit { memory.deallocate() }

    /// - Parameter capacity: about how many bytes will come, to take memory once.
    init(_ form: LogForm, _ level: Configuration.Log.Level, _ event: StaticString, capacity: Int = 256) {
        self.init(form, capacity: capacity)
        switch form {
        case .json:
            append("\"level\":\"")
            append(string: level.rawValue)
            append("\",\"event\":\"")
            append(event)
            append("\"")
        case .text:
            append(string: level.rawValue)
            append(" ")
            append(event)
        }
    }

    /// Members that many lines share, made once for ``add(members:)``.
    /// - Parameter addMembers: adds them to a line that has nothing else.
    static func members(_ form: LogForm, _ addMembers: (inout LogLine) -> Void) -> [UInt8] {
        var line = LogLine(form, capacity: 128)
        addMembers(&line)
        return Array(line.bytes)
    }

    /// What follows the time; with the line break after ``end()``. Valid as long as the line.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    package mutating func add(_ name: StaticString, _ value: String) {
        if !value.isEmpty, value.utf8.allSatisfy(Self.isPlain) {
            addPlain(name) { $0.append(string: value) }
        } else {
            beginMember(name)
            appendEscaped(value)
        }
    }

    /// Adds the beginning of a text that somebody else has written.
    package mutating func add(_ name: StaticString, bounded value: String) {
        guard value.utf8.count > Self.longestForeignText else { return add(name, value) }
        add(name, String(decoding: value.utf8.prefix(Self.longestForeignText), as: UTF8.self) + "…")
    }

    /// In bytes: a sentence. What is longer is a page that a proxy has sent.
    private static let longestForeignText = 256

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
    package mutating func add(_ name: StaticString, microseconds: UInt64) {
        beginMember(name)
        appendDecimal(microseconds / 1_000)
        append(".")
        appendDecimal(microseconds % 1_000, width: 3)
    }

    /// Adds members that lines of this form share.
    package mutating func add(members: [UInt8]) { members.withUnsafeBytes { append($0) } }

    mutating func end() { append(form == .json ? "}\n" : "\n") }
}

extension LogLine {
    /// Adds 32 hexadecimal digits after a prefix that needs no escape.
    package mutating func add(_ name: StaticString, _ prefix: StaticString, high: UInt64, low: UInt64) {
        addPlain(name) { line in
            line.append(prefix)
            Hexadecimal.write(high, to: line.take(Hexadecimal.wordLength))
            Hexadecimal.write(low, to: line.take(Hexadecimal.wordLength))
        }
    }

    /// Adds which task the line is about.
    package mutating func add(_ task: TaskID, named name: String) {
        add("task", name)
        add("task_id", task.description)
        add("session_id", task.session.description)
        if !task.isNotice { add("journey", task.journey) }
    }

    /// Adds the id of a request. None of its characters needs an escape.
    package mutating func add(_ name: StaticString, _ id: RequestID) {
        addPlain(name) { line in id.withBytes { line.append(UnsafeRawBufferPointer($0)) } }
    }

    /// Adds an address. None of its characters needs an escape.
    package mutating func add(_ name: StaticString, _ address: PeerAddress) {
        addPlain(name) { line in
            let room = line.take(PeerAddress.hostBytes)
            let written = address.writeHost(
                to: UnsafeMutableRawBufferPointer(start: room, count: PeerAddress.hostBytes))
            line.count -= PeerAddress.hostBytes - written
        }
    }

    /// Adds a text that needs no escape: what `write` appends.
    @inline(__always)
    private mutating func addPlain(_ name: StaticString, _ write: (inout LogLine) -> Void) {
        beginMember(name)
        if form == .json { append("\"") }
        write(&self)
        if form == .json { append("\"") }
    }

    /// Room for so many more bytes, which the caller writes.
    @inline(__always)
    private mutating func take(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        if length > capacity - count { grow(by: length) }
        defer { count += length }
        return memory + count
    }

    @inline(never)
    private mutating func grow(by length: Int) {
        capacity = 2 * (count + length)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.initialize(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }

    @inline(__always)
    private mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        UnsafeMutableRawPointer(take(source.count)).copyMemory(from: start, byteCount: source.count)
    }

    @inline(__always)
    private mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(string text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    private mutating func beginMember(_ name: StaticString) {
        append(form == .json ? ",\"" : " ")
        append(name)
        append(form == .json ? "\":" : "=")
    }

    /// - Parameter width: of how many digits there are at least, zeros in front; at most 8.
    private mutating func appendDecimal(_ value: UInt64, width: Int = 1) {
        guard var rest = UInt32(exactly: value), rest < 100_000_000 else { return append(string: String(value)) }
        // The digit that is found last comes first in memory: the lowest byte of a little-endian word.
        var word: UInt64 = 0
        var digits = 0
        repeat {
            word = word << 8 | UInt64(UInt32(UInt8(ascii: "0")) + rest % 10)
            rest /= 10
            digits += 1
        } while rest > 0 || digits < width
        UnsafeMutableRawPointer(take(8)).storeBytes(of: word.littleEndian, as: UInt64.self)
        count -= 8 - digits
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
                    take(1).pointee = Hexadecimal.digit(UInt8(scalar.value >> shift & 15))
                }
            default: append(string: String(scalar))
            }
        }
        append("\"")
    }
}
