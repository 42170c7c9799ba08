import CJSON

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
    package internal(set) var bytes: [UInt8] = []

    /// Whether a comma goes before the next name or value, because it is not the first in its array or object.
    var needsComma = false

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
        comma()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The same for a literal: it must be ASCII without anything to escape, which is not checked.
    package mutating func name(_ name: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func string(_ value: String) {
        comma()
        quote(value)
    }

    package mutating func int(_ value: Int) {
        comma()
        digits(value.magnitude, negative: value < 0)
    }

    package mutating func uint(_ value: UInt64) {
        comma()
        digits(UInt(value), negative: false)
    }

    package mutating func bool(_ value: Bool) {
        comma()
        bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
    }

    package mutating func null() {
        comma()
        bytes.append(contentsOf: "null".utf8)
    }

    /// The shortest text that reads as the same number; infinities and NaN, which JSON does not have, become `null`.
    package mutating func double(_ value: Double) {
        comma()
        bytes.append(contentsOf: value.isFinite ? value.description.utf8 : "null".utf8)
    }

    /// A value that is JSON text already.
    package mutating func raw(_ text: some Collection<UInt8>) {
        comma()
        bytes.append(contentsOf: text)
    }

    /// The same for a buffer: much faster than the generic function when another module calls it.
    package mutating func raw(_ text: UnsafeRawBufferPointer) {
        comma()
        bytes.append(contentsOf: text)
    }

    package mutating func document(_ document: JSONDocument) {
        comma()
        var length = 0
        let text = cjson_serialize(document.value, &length)
        bytes.append(contentsOf: JSONText.serialized(text, length))
    }

    private mutating func comma() {
        if needsComma {
            bytes.append(UInt8(ascii: ","))
        }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        comma()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    /// Copies a string as it is when nothing in it needs escaping, which is nearly always.
    private mutating func quote(_ value: String) {
        var value = value
        value.withUTF8 { quote($0) }
    }

    mutating func quote(_ utf8: UnsafeBufferPointer<UInt8>) {
        if Self.isPlain(utf8) {
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: utf8)
            bytes.append(UInt8(ascii: "\""))
        } else {
            var length = 0
            let text = cjson_quote(utf8.baseAddress, utf8.count, &length)
            bytes.append(contentsOf: JSONText.serialized(text, length))
        }
    }

    /// Whether no byte is a quotation mark, a backslash or below a space. Looks at eight bytes at a time: a byte is
    /// below `n` when subtracting `n` from it borrows, which shows in its highest bit, unless that was set before.
    static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        var place = 0
        while place + 8 <= bytes.count {
            if !isPlain(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) { return false }
            place += 8
        }
        var rest: UInt64 = 0
        while place < bytes.count {
            rest = rest << 8 | UInt64(bytes[place])
            place += 1
        }
        // Spaces fill the rest of the word.
        let used = UInt64(bytes.count % 8) * 8
        return isPlain(rest | (0x2020_2020_2020_2020 << used))
    }

    private static func isPlain(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highest = ones << 7
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let hits =
            ((word &- ones &* 0x20) & ~word) | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
        // A borrow may come from the byte before; then that byte was a hit, too.
        return hits & highest == 0
    }

    private mutating func digits(_ magnitude: UInt, negative: Bool) {
        // The digits are made from the last to the first, and then appended at once.
        let maximumLength = 20
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumLength) { room in
            var start = maximumLength
            var rest = magnitude
            repeat {
                start -= 1
                room[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if negative {
                start -= 1
                room[start] = UInt8(ascii: "-")
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: room[start...]))
        }
    }
}
