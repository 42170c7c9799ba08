/// Reads JSON text that ``JSONWriter`` wrote, piece by piece and in the order in which it was written, without making a
/// document first: for what the program keeps for itself and reads all the time.
///
/// ```swift
/// var reader = JSONReader(Array(#"["Ada",36,[1,2]]"#.utf8))
/// try reader.beginArray()
/// let name = try reader.string()
/// let age = try reader.int()
/// try reader.beginArray()
/// while !reader.endsArray() { numbers.append(try reader.int()) }
/// ```
///
/// Commas go by themselves. Whatever the text is, reading it traps never: it throws where something else stands than
/// is asked for. Text from outside is for `JSONDocument.init(parsing:comments:)`, which also says what is wrong with it.
package struct JSONReader: Sendable {
    private let bytes: [UInt8]
    private var place = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package mutating func beginArray() throws(JSONReadError) {
        skipComma()
        try take(UInt8(ascii: "["))
    }

    /// Takes the beginning of an array if it is next.
    package mutating func isArray() -> Bool {
        let start = place
        skipComma()
        guard next == UInt8(ascii: "[") else {
            place = start
            return false
        }
        place += 1
        return true
    }

    /// Takes the end of an array if it is next.
    package mutating func endsArray() -> Bool {
        guard next == UInt8(ascii: "]") else { return false }
        place += 1
        return true
    }

    package mutating func endArray() throws(JSONReadError) {
        guard endsArray() else { throw JSONReadError(offset: place) }
    }

    package mutating func beginObject() throws(JSONReadError) {
        skipComma()
        try take(UInt8(ascii: "{"))
    }

    /// Takes the end of an object if it is next.
    package mutating func endsObject() -> Bool {
        guard next == UInt8(ascii: "}") else { return false }
        place += 1
        return true
    }

    package mutating func endObject() throws(JSONReadError) {
        guard endsObject() else { throw JSONReadError(offset: place) }
    }

    /// Takes the name of a member, which has to be that one.
    package mutating func name(_ name: StaticString) throws(JSONReadError) {
        guard isName(name) else { throw JSONReadError(offset: place) }
    }

    /// Takes the name of a member if it is that one, which has nothing to escape.
    package mutating func isName(_ name: StaticString) -> Bool {
        let start = place + (next == UInt8(ascii: ",") ? 1 : 0)
        let end = start + name.utf8CodeUnitCount + 3
        guard end <= bytes.count, bytes[start] == UInt8(ascii: "\""), bytes[end - 2] == UInt8(ascii: "\""),
            bytes[end - 1] == UInt8(ascii: ":")
        else { return false }
        for offset in 0..<name.utf8CodeUnitCount where bytes[start + 1 + offset] != name.utf8Start[offset] {
            return false
        }
        place = end
        return true
    }

    package mutating func int() throws(JSONReadError) -> Int64 {
        skipComma()
        let isNegative = next == UInt8(ascii: "-")
        if isNegative { place += 1 }
        let start = place
        var value: Int64 = 0
        while let digit = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
            value = value &* 10 &+ Int64(digit &- UInt8(ascii: "0"))
            place += 1
        }
        // What has at most so many digits has not overflown.
        guard (1...18).contains(place - start) else { throw JSONReadError(offset: start) }
        return isNegative ? -value : value
    }

    package mutating func string() throws(JSONReadError) -> String {
        skipComma()
        let start = place
        let isPlain = try skipString()
        if isPlain { return String(decoding: bytes[(start + 1)..<(place - 1)], as: UTF8.self) }
        guard let text = try parsed(from: start).string else { throw JSONReadError(offset: start) }
        return text
    }

    /// Any value.
    package mutating func document() throws(JSONReadError) -> JSONDocument {
        skipComma()
        let start = place
        var depth = 0
        repeat {
            switch next {
            case nil: throw JSONReadError(offset: place)
            case UInt8(ascii: "\""):
                _ = try skipString()
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            place += 1
        } while depth > 0 || !isAtEndOfValue
        if place - start == 2, bytes[start] == UInt8(ascii: "{") { return .emptyObject }
        return try parsed(from: start)
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private var isAtEndOfValue: Bool {
        switch next {
        case nil, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): true
        default: false
        }
    }

    private mutating func skipComma() {
        if next == UInt8(ascii: ",") { place += 1 }
    }

    private mutating func take(_ byte: UInt8) throws(JSONReadError) {
        guard next == byte else { throw JSONReadError(offset: place) }
        place += 1
    }

    /// - Returns: whether nothing in it is escaped.
    private mutating func skipString() throws(JSONReadError) -> Bool {
        try take(UInt8(ascii: "\""))
        var isPlain = true
        while let byte = next {
            place += 1
            if byte == UInt8(ascii: "\"") { return isPlain }
            guard byte == UInt8(ascii: "\\") else { continue }
            isPlain = false
            place += 1
        }
        throw JSONReadError(offset: place)
    }

    private func parsed(from start: Int) throws(JSONReadError) -> JSONDocument {
        do {
            return try JSONDocument(parsing: Array(bytes[start..<min(place, bytes.count)]))
        } catch {
            throw JSONReadError(offset: start)
        }
    }
}

/// The text is not what was to be read, from that byte on.
package struct JSONReadError: Error, Equatable, Sendable {
    package let offset: Int

    package init(offset: Int) { self.offset = offset }
}
