/// A line for people: `info listening public=http://127.0.0.1:8080`.
///
/// The first two members, `level` and `event`, stand without their names. A string that could be misread, because
/// it is empty or has a space, a quote, an equals sign or an escape in it, stays in quotes, as JSON has it.
struct TextLine {
    private let json: [UInt8]
    private var position = 0

    /// - Parameter json: an object, as `JSONWriter` writes it.
    static func append(_ json: [UInt8], to text: inout [UInt8]) {
        var line = TextLine(json: json)
        line.appendMembers(to: &text)
    }

    private init(json: [UInt8]) {
        self.json = json
    }

    private mutating func appendMembers(to text: inout [UInt8]) {
        var members = 0
        // The bracket that opens, then the comma before each further member.
        position = 1
        while position < json.count, json[position] == UInt8(ascii: "\"") {
            let name = value()
            position += 1
            let value = value()
            if members > 0 { text.append(UInt8(ascii: " ")) }
            if members > 1 {
                text.append(contentsOf: Self.bare(name))
                text.append(UInt8(ascii: "="))
            }
            text.append(contentsOf: Self.bare(value))
            members += 1
            position += 1
        }
    }

    /// The value, or name, that starts here; afterwards `position` is behind it.
    private mutating func value() -> ArraySlice<UInt8> {
        let start = position
        var depth = 0
        var quoted = false
        while position < json.count {
            let byte = json[position]
            if quoted {
                if byte == UInt8(ascii: "\\") {
                    position += 1
                } else if byte == UInt8(ascii: "\"") {
                    quoted = false
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): quoted = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"):
                    if depth == 0 { return json[start..<position] }
                    if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
                default: break
                }
            }
            position += 1
        }
        return json[start..<min(position, json.count)]
    }

    private static func bare(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard value.count > 2, value.first == UInt8(ascii: "\"") else { return value }
        let inner = value.dropFirst().dropLast()
        let isPlain = inner.allSatisfy {
            $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "=")
        }
        return isPlain ? inner : value
    }
}
