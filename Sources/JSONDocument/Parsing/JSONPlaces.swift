import CJSON

/// Where the values of a JSON text begin, which a document does not remember.
package struct JSONPlaces: Sendable {
    private var offsets: [JSONPointer: Int] = [:]

    /// Finds no places in a text that is not JSON. Comments may stand in it.
    package init(of bytes: [UInt8]) {
        guard let tokens = JSONTokens(of: bytes, comments: true) else { return }
        var walk = Walk(bytes: bytes, tokens: tokens)
        walk.value(at: .root)
        offsets = walk.offsets
    }

    /// The offset of the first byte of a value; of a member's value, the first byte of its name.
    package func offset(of pointer: JSONPointer) -> Int? { offsets[pointer] }

    private struct Walk {
        let bytes: [UInt8]
        let tokens: JSONTokens
        var place = 0
        var offsets: [JSONPointer: Int] = [:]

        private var next: cjson_token { tokens.list[place] }

        mutating func value(at pointer: JSONPointer) {
            let kind = next.kind
            // A member has its place already: its name's.
            if offsets[pointer] == nil { offsets[pointer] = start(of: next) }
            place += 1
            switch kind {
            case .CJSON_TOKEN_BEGIN_OBJECT:
                while next.kind == .CJSON_TOKEN_NAME {
                    let member = pointer.appending(String(decoding: tokens.text(of: next), as: UTF8.self))
                    offsets[member] = start(of: next)
                    place += 1
                    value(at: member)
                }
                place += 1
            case .CJSON_TOKEN_BEGIN_ARRAY:
                var index = 0
                while next.kind != .CJSON_TOKEN_END_ARRAY {
                    value(at: pointer.appending(index))
                    index += 1
                }
                place += 1
            default: break
            }
        }

        private func start(of token: cjson_token) -> Int {
            switch token.kind {
            // Behind the quotation mark.
            case .CJSON_TOKEN_NAME, .CJSON_TOKEN_STRING: return token.text.start - 1
            case .CJSON_TOKEN_BEGIN_OBJECT, .CJSON_TOKEN_BEGIN_ARRAY: return token.end - 1
            default:
                // A number, or one of three words.
                let before = bytes[..<token.end].lastIndex { !"+-.0123456789Eaeflnrstu".utf8.contains($0) }
                return before.map { $0 + 1 } ?? 0
            }
        }
    }
}

/// A line and a column in a text file, for messages about configuration.
///
/// ```swift
/// JSONSourceLocation(offset: error.offset, in: bytes).description  // "line 12, column 5"
/// ```
package struct JSONSourceLocation: Equatable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    package let line: Int

    /// Counted from 1, in code points.
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The place of a byte; offsets beyond the end are the end.
    package init(offset: Int, in bytes: [UInt8]) {
        var line = 1
        var column = 1
        for byte in bytes.prefix(max(0, offset)) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                // Every byte of a code point but its first begins with the bits 10.
                column += 1
            }
        }
        self.init(line: line, column: column)
    }

    package var description: String { "line \(line), column \(column)" }
}
