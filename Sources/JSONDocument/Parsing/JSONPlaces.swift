/// Where the values of a JSON text begin.
///
/// The parser says where a text that it refuses goes wrong, but not where the values of a good one are. This walks a
/// text that **has been parsed already** and so may take every bracket and quotation mark at its word; a text that is
/// not JSON makes it stop early, and the places after that are unknown.
package struct JSONPlaces: Sendable {
    private var offsets: [JSONPointer: Int] = [:]

    package init(of bytes: [UInt8]) {
        var walk = Walk(bytes: bytes)
        walk.value(at: .root)
        offsets = walk.offsets
    }

    /// The offset of the first byte of a value; of a member's value, the first byte of its name.
    package func offset(of pointer: JSONPointer) -> Int? { offsets[pointer] }

    private struct Walk {
        let bytes: [UInt8]
        var position = 0
        var offsets: [JSONPointer: Int] = [:]

        var current: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func value(at pointer: JSONPointer) {
            skipBlanks()
            // A member has its place already: its name's.
            if offsets[pointer] == nil { offsets[pointer] = position }
            switch current {
            case UInt8(ascii: "{"): object(at: pointer)
            case UInt8(ascii: "["): array(at: pointer)
            case UInt8(ascii: "\""): _ = string()
            default: scalar()
            }
            skipBlanks()
        }

        private mutating func object(at pointer: JSONPointer) {
            position += 1
            skipBlanks()
            while current == UInt8(ascii: "\"") {
                let start = position
                guard let name = string() else { return }
                let member = pointer.appending(name)
                offsets[member] = start
                skipBlanks()
                guard current == UInt8(ascii: ":") else { return }
                position += 1
                value(at: member)
                if current == UInt8(ascii: ",") { position += 1 }
                skipBlanks()
            }
            position += 1
        }

        private mutating func array(at pointer: JSONPointer) {
            position += 1
            skipBlanks()
            var index = 0
            while let byte = current, byte != UInt8(ascii: "]") {
                value(at: pointer.appending(index))
                index += 1
                guard current == UInt8(ascii: ",") else { break }
                position += 1
            }
            position += 1
        }

        private mutating func string() -> String? {
            let start = position
            position += 1
            while let byte = current, byte != UInt8(ascii: "\"") {
                position += byte == UInt8(ascii: "\\") ? 2 : 1
            }
            guard position < bytes.count else { return nil }
            position += 1
            // The parser knows the escapes.
            return (try? JSONDocument(parsing: Array(bytes[start..<position])))?.string
        }

        private mutating func scalar() {
            while let byte = current, !",]}/ \t\r\n".utf8.contains(byte) { position += 1 }
        }

        private mutating func skipBlanks() {
            while let byte = current {
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): position += 1
                case UInt8(ascii: "/"): skipComment()
                default: return
                }
            }
        }

        private mutating func skipComment() {
            let isBlock = position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "*")
            position += 2
            while position < bytes.count {
                if isBlock, bytes[position - 1] == UInt8(ascii: "*"), bytes[position] == UInt8(ascii: "/") { break }
                if !isBlock, bytes[position] == UInt8(ascii: "\n") { break }
                position += 1
            }
            position += 1
        }
    }
}
