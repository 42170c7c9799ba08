import CJSON

/// Why and where text was refused as JSON.
public struct JSONParseError: Error, Equatable, Sendable {
    /// What is wrong with the text.
    public enum Code: Sendable, Equatable {
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
            code: Code(failure.code), offset: failure.offset, pointer: JSONText.string(adopting: failure.pointer))
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

extension JSONParseError.Code {
    fileprivate init(_ code: cjson_parse_code) {
        switch code {
        case .CJSON_PARSE_EMPTY: self = .empty
        case .CJSON_PARSE_BYTE_ORDER_MARK: self = .byteOrderMark
        case .CJSON_PARSE_NUL_BYTE: self = .nulByte
        case .CJSON_PARSE_INVALID_UTF8: self = .invalidUTF8
        case .CJSON_PARSE_LONE_SURROGATE: self = .loneSurrogate
        case .CJSON_PARSE_DUPLICATE_MEMBER: self = .duplicateMember
        case .CJSON_PARSE_TOO_DEEP: self = .tooDeep
        case .CJSON_PARSE_NUMBER_TOO_LARGE: self = .numberTooLarge
        case .CJSON_PARSE_TRAILING_TEXT: self = .trailingText
        case .CJSON_PARSE_UNEXPECTED_END: self = .unexpectedEnd
        case .CJSON_PARSE_OK, .CJSON_PARSE_SYNTAX: self = .syntax
        case .CJSON_PARSE_OUT_OF_MEMORY: self = .outOfMemory
        }
    }
}
