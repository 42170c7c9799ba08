import CJSON

/// Why and where text was refused as JSON.
public struct JSONParseError: Error, Equatable, Sendable {
    /// What is wrong with the text. The numbers are those of `cjson_parse_code`.
    public enum Code: UInt32, Sendable {
        /// The text is JSON, but not of the kind that is accepted; or there is nothing, or not UTF-8.
        case empty, byteOrderMark, nulByte, invalidUTF8, loneSurrogate, duplicateMember, tooDeep, numberTooLarge
        /// The text does not follow the grammar, ends too early or goes on after its value; or memory ran out.
        case trailingText, unexpectedEnd, syntax, outOfMemory
    }

    /// What is wrong with the text.
    public let code: Code

    /// The first byte at fault, counted from 0; the length of the text where its end is at fault.
    public let offset: Int

    /// The value at fault, where there is one: for a duplicate member, an over-deep container, a number or a string
    /// with a lone surrogate.
    public let pointer: String?

    /// An error at a place of a text.
    public init(code: Code, offset: Int, pointer: String? = nil) {
        self.code = code
        self.offset = offset
        self.pointer = pointer
    }

    init(adopting failure: cjson_parse_failure) {
        self.init(
            code: Code(rawValue: failure.code.rawValue) ?? .syntax, offset: failure.offset,
            pointer: JSONText.string(adopting: failure.pointer))
    }
}

extension JSONParseError: CustomStringConvertible {
    /// A sentence that is safe to show to a client.
    public var description: String {
        let place = pointer.map { $0.isEmpty ? "" : " at \($0)" } ?? ""
        return "\(sentence)\(place) (byte \(offset))."
    }

    /// The same as a clause, with what the author of the text probably has to do.
    package func clause(in bytes: [UInt8]) -> String { description.asClause + hint(in: bytes) }

    private func hint(in bytes: [UInt8]) -> String {
        guard code == .syntax, offset < bytes.count else { return "" }
        let before = bytes[..<offset].last { !" \t\r\n".utf8.contains($0) }
        switch bytes[offset] {
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            return before == UInt8(ascii: ",") ? "; remove the comma before the closing bracket" : ""
        case UInt8(ascii: "'"): return "; names and strings need double quotes"
        case UInt8(ascii: "\""):
            return before.map { "{[,:".utf8.contains($0) } ?? true ? "" : "; a comma is missing before this place"
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
            return "; names and strings need double quotes, and only true, false and null without"
        default: return ""
        }
    }

    private var sentence: String {
        switch code {
        case .empty: "There is no JSON value: the text is empty"
        case .byteOrderMark: "The text begins with a byte order mark"
        case .nulByte: "The text contains a NUL byte"
        case .invalidUTF8: "The text is not valid UTF-8"
        case .loneSurrogate: "A string contains half of a surrogate pair"
        case .duplicateMember: "A member name occurs twice in one object"
        case .tooDeep: "Arrays and objects are nested more than \(JSONDocument.maximumDepth) levels deep"
        case .numberTooLarge: "A number is too large"
        case .trailingText: "There is more text after the JSON value"
        case .unexpectedEnd: "The text ends before the JSON value does"
        case .syntax: "The text is not valid JSON"
        case .outOfMemory: "There is not enough memory to read the text"
        }
    }
}

extension String {
    /// A sentence as a part of a longer line: it begins in lower case and has no full stop.
    package var asClause: String {
        var text = self[...]
        if text.hasSuffix(".") { text.removeLast() }
        // An acronym such as JSON stays as it is.
        guard let first = text.first, text.dropFirst().first?.isUppercase != true else { return String(text) }
        return first.lowercased() + text.dropFirst()
    }
}
