import CJSON
import Glibc

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

    package mutating func add(_ text: [UInt8]) {
        text.withUnsafeBufferPointer { text in
            add("", room: text.count) { room in
                // An empty buffer may have no address.
                if let start = text.baseAddress { memcpy(room, start, text.count) }
            }
        }
    }

    package mutating func add(_ text: StaticString, _ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            guard Self.isPlain(utf8) else {
                add(text)
                return quote(utf8)
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
        needsComma = false
        null()
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
        add(text)
        needsComma = false
        document(value)
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
