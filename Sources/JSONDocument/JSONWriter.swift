import CJSON
import Glibc

/// Writes JSON text piece by piece, for responses and log lines, without making a document first.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.name("items")
/// writer.beginArray()
/// writer.int(1)
/// writer.endArray()
/// writer.endObject()
/// writer.bytes  // {"items":[1]}
/// ```
///
/// The writer adds the commas. It does not check that the calls make JSON: a name without a value, or an object that is
/// not ended, is the caller's mistake and shows in the text. Members are written in the order of the calls.
package struct JSONWriter: Sendable {
    /// The text so far, UTF-8.
    package private(set) var bytes: [UInt8] = []

    /// Whether a comma goes before the next name or value, because it is not the first in its array or object.
    private var needsComma = false

    package init(reservingCapacity capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func beginObject() { open(UInt8(ascii: "{")) }

    package mutating func endObject() { close(UInt8(ascii: "}")) }

    package mutating func beginArray() { open(UInt8(ascii: "[")) }

    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// The name of the member whose value is written next. Literals use the other overload.
    @_disfavoredOverload
    package mutating func name(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The same for a literal: it must be ASCII without anything to escape, which is not checked.
    package mutating func name(_ name: StaticString) {
        separate()
        let length = name.utf8CodeUnitCount
        add("\"", room: length + 2) { room in
            memcpy(room, name.utf8Start, length)
            room[length] = UInt8(ascii: "\"")
            room[length + 1] = UInt8(ascii: ":")
        }
        needsComma = false
    }

    package mutating func string(_ value: String) {
        separate()
        add("", value)
    }

    package mutating func int(_ value: Int) {
        separate()
        add("", value)
    }

    package mutating func uint(_ value: UInt64) {
        separate()
        add("", value)
    }

    package mutating func bool(_ value: Bool) { raw((value ? "true" : "false").utf8) }

    package mutating func null() { raw("null".utf8) }

    /// A value that is JSON text already.
    package mutating func raw(_ text: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: text)
    }

    /// The same for a buffer: much faster than the generic function when another module calls it.
    package mutating func raw(_ text: UnsafeRawBufferPointer) {
        separate()
        bytes.append(contentsOf: text)
    }

    package mutating func document(_ document: JSONDocument) {
        separate()
        add("", document)
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }
}

/// Constant text with its brackets, names, colons and commas, followed by a value, in one append: for hot paths. Here
/// the caller writes the commas.
///
/// ```swift
/// writer.beginObject()
/// writer.add(#""name":"#, name)
/// writer.add(#","title":null,"step":"#, step)
/// writer.endObject()  // {"name":"Ada","title":null,"step":3}
/// ```
extension JSONWriter {
    package mutating func add(_ text: StaticString) {
        add(text, room: 0) { _ in }
    }

    package mutating func add(_ text: [UInt8]) { text.withUnsafeBufferPointer { add("", copying: $0) } }

    package mutating func add(_ text: StaticString, _ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            // Nearly always nothing in it needs escaping.
            guard cjson_is_plain(utf8.baseAddress, utf8.count) else {
                var length = 0
                let quoted = cjson_quote(utf8.baseAddress, utf8.count, &length)
                return add(text, copying: JSONText.serialized(quoted, length))
            }
            add(text, room: utf8.count + 2) { room in
                room[0] = UInt8(ascii: "\"")
                // An empty buffer may have no address.
                if let start = utf8.baseAddress { memcpy(room + 1, start, utf8.count) }
                room[utf8.count + 1] = UInt8(ascii: "\"")
            }
        }
    }

    /// - Parameter value: nil is `null`.
    package mutating func add(_ text: StaticString, _ value: String?) {
        if let value { return add(text, value) }
        add(text)
        bytes.append(contentsOf: "null".utf8)
    }

    package mutating func add(_ text: StaticString, _ value: Timestamp) {
        add(text, room: Timestamp.length + 2) { room in
            room[0] = UInt8(ascii: "\"")
            value.write(into: UnsafeMutableRawBufferPointer(start: room + 1, count: Timestamp.length))
            room[Timestamp.length + 1] = UInt8(ascii: "\"")
        }
    }

    package mutating func add(_ text: StaticString, _ value: Int) {
        add(text, UInt64(value.magnitude), isNegative: value < 0)
    }

    package mutating func add(_ text: StaticString, _ value: UInt64) {
        add(text, value, isNegative: false)
    }

    private mutating func add(_ text: StaticString, _ magnitude: UInt64, isNegative: Bool) {
        var length = isNegative ? 2 : 1
        var limit: UInt64 = 10
        while magnitude >= limit {
            length += 1
            let (next, isOver) = limit.multipliedReportingOverflow(by: 10)
            if isOver { break }
            limit = next
        }
        add(text, room: length) { room in
            var rest = magnitude
            var place = length
            repeat {
                place -= 1
                room[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if isNegative { room[0] = UInt8(ascii: "-") }
        }
    }

    package mutating func add(_ text: StaticString, _ value: JSONDocument) {
        var length = 0
        let serialized = cjson_serialize(value.value, &length)
        add(text, copying: JSONText.serialized(serialized, length))
    }

    private mutating func add(_ text: StaticString, copying value: UnsafeBufferPointer<UInt8>) {
        add(text, room: value.count) { room in
            // An empty buffer may have no address.
            if let start = value.baseAddress { memcpy(room, start, value.count) }
        }
    }

    /// Reserves room for the text and a value of that many bytes at once.
    @inline(__always)
    private mutating func add(_ text: StaticString, room size: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void) {
        let length = text.utf8CodeUnitCount
        bytes.append(addingCapacity: length + size) { room in
            room.withUnsafeMutableBufferPointer { room, written in
                guard let start = room.baseAddress else { return }
                memcpy(start, text.utf8Start, length)
                write(start + length)
                written = length + size
            }
        }
        needsComma = true
    }
}
