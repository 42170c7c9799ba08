import CJSON

/// Reads JSON text that ``JSONWriter`` wrote, piece by piece and in the order of writing, without making a document
/// first: for stored text that is read often.
///
/// ```swift
/// var reader = try JSONReader(Array(#"["Ada",36,[1,2]]"#.utf8))
/// try reader.beginArray()
/// let name = try reader.string()
/// let age = try reader.int()
/// try reader.beginArray()
/// while !reader.endsArray() { numbers.append(try reader.int()) }
/// ```
///
/// The parser checks the whole text first, so that only JSON is read. Reading never traps: it throws where the text has
/// something else than the caller asks for. Use `JSONDocument.init(parsing:comments:)` for text from outside, which
/// also says what is wrong.
package struct JSONReader: Sendable {
    private let bytes: [UInt8]
    private let tokens: JSONTokens
    private var place = 0

    /// - Throws: when the text is not JSON.
    package init(_ bytes: [UInt8]) throws(JSONReadError) {
        guard let tokens = JSONTokens(of: bytes) else { throw JSONReadError(offset: 0) }
        self.bytes = bytes
        self.tokens = tokens
    }

    package mutating func beginArray() throws(JSONReadError) { _ = try take(.CJSON_TOKEN_BEGIN_ARRAY) }

    /// Reads the beginning of an array if that is next.
    package mutating func isArray() -> Bool { takes(.CJSON_TOKEN_BEGIN_ARRAY) }

    /// Reads the end of an array if that is next.
    package mutating func endsArray() -> Bool { takes(.CJSON_TOKEN_END_ARRAY) }

    package mutating func endArray() throws(JSONReadError) { _ = try take(.CJSON_TOKEN_END_ARRAY) }

    package mutating func beginObject() throws(JSONReadError) { _ = try take(.CJSON_TOKEN_BEGIN_OBJECT) }

    /// Reads the end of an object if that is next.
    package mutating func endsObject() -> Bool { takes(.CJSON_TOKEN_END_OBJECT) }

    package mutating func endObject() throws(JSONReadError) { _ = try take(.CJSON_TOKEN_END_OBJECT) }

    /// Reads the name of a member, which must be this one.
    package mutating func name(_ name: StaticString) throws(JSONReadError) {
        guard isName(name) else { throw failure }
    }

    /// Reads the name of a member if it is this one.
    package mutating func isName(_ name: StaticString) -> Bool {
        guard let token = next, token.kind == .CJSON_TOKEN_NAME else { return false }
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        guard tokens.text(of: token).elementsEqual(wanted) else { return false }
        place += 1
        return true
    }

    package mutating func int() throws(JSONReadError) -> Int64 { try take(.CJSON_TOKEN_INTEGER).integer }

    package mutating func string() throws(JSONReadError) -> String {
        String(decoding: tokens.text(of: try take(.CJSON_TOKEN_STRING)), as: UTF8.self)
    }

    /// Any value.
    package mutating func document() throws(JSONReadError) -> JSONDocument {
        guard let token = next else { throw failure }
        switch token.kind {
        case .CJSON_TOKEN_NULL: place += 1
        case .CJSON_TOKEN_FALSE, .CJSON_TOKEN_TRUE:
            place += 1
            return JSONDocument(token.kind == .CJSON_TOKEN_TRUE)
        case .CJSON_TOKEN_INTEGER: return JSONDocument(Int(try int()))
        case .CJSON_TOKEN_UNSIGNED:
            place += 1
            return JSONDocument(JSONDocument.Owner(adopting: cjson_new_unsigned(token.whole)))
        case .CJSON_TOKEN_DOUBLE:
            place += 1
            return JSONDocument(token.real)
        case .CJSON_TOKEN_STRING: return JSONDocument(try string())
        case .CJSON_TOKEN_BEGIN_ARRAY, .CJSON_TOKEN_BEGIN_OBJECT: return try container(from: token.end - 1)
        case .CJSON_TOKEN_NAME, .CJSON_TOKEN_END_ARRAY, .CJSON_TOKEN_END_OBJECT: throw failure
        }
        return .null
    }

    /// Parses the part of the text that is the next array or object.
    private mutating func container(from start: Int) throws(JSONReadError) -> JSONDocument {
        var depth = 0
        var end = start
        repeat {
            guard let token = next else { throw failure }
            switch token.kind {
            case .CJSON_TOKEN_BEGIN_ARRAY, .CJSON_TOKEN_BEGIN_OBJECT: depth += 1
            case .CJSON_TOKEN_END_ARRAY, .CJSON_TOKEN_END_OBJECT: depth -= 1
            default: break
            }
            end = token.end
            place += 1
        } while depth > 0
        if end - start == 2, bytes[start] == UInt8(ascii: "{") { return .emptyObject }
        do {
            return try JSONDocument(parsing: Array(bytes[start..<end]))
        } catch {
            throw JSONReadError(offset: start + error.offset)
        }
    }

    private var next: cjson_token? { place < tokens.list.count ? tokens.list[place] : nil }

    private mutating func takes(_ kind: cjson_token_kind) -> Bool {
        guard place < tokens.list.count, tokens.list[place].kind == kind else { return false }
        place += 1
        return true
    }

    private mutating func take(_ kind: cjson_token_kind) throws(JSONReadError) -> cjson_token {
        guard let token = next, token.kind == kind else { throw failure }
        place += 1
        return token
    }

    /// The error for a token that the caller did not ask for.
    private var failure: JSONReadError { JSONReadError(offset: place == 0 ? 0 : tokens.list[place - 1].end) }
}

/// The text differs from what the reader asked for, from that byte on.
package struct JSONReadError: Error, Equatable, Sendable {
    package let offset: Int

    package init(offset: Int) { self.offset = offset }
}

/// The tokens of a text in order, without a tree.
final class JSONTokens: Sendable {
    /// Any thread reads it, none writes it, and `deinit` frees it.
    nonisolated(unsafe) let list: UnsafeBufferPointer<cjson_token>
    nonisolated(unsafe) private let texts: UnsafePointer<UInt8>?
    nonisolated(unsafe) private let tokens: OpaquePointer

    /// Nil when the text is not JSON.
    init?(of bytes: [UInt8], comments: Bool = false) {
        guard let tokens = cjson_read_tokens(bytes, bytes.count, comments) else { return nil }
        self.tokens = tokens
        var count = 0
        let start = cjson_tokens_list(tokens, &count)
        list = UnsafeBufferPointer(start: start, count: count)
        texts = cjson_tokens_texts(tokens)
    }

    deinit { cjson_tokens_free(tokens) }

    /// The bytes of a string or name.
    func text(of token: cjson_token) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: texts.map { $0 + token.text.start }, count: token.text.length)
    }
}
