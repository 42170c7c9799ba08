import CJSON

/// The tokens of a text in order, without a tree.
final class JSONTokens: Sendable {
    /// Any thread reads it, none writes it, and `deinit` frees it.
    nonisolated(unsafe) let list: UnsafeBufferPointer<cjson_token>
    nonisolated(unsafe) private let texts: UnsafePointer<UInt8>?
    nonisolated(unsafe) private let tokens: OpaquePointer

    /// Nil when the text is not JSON.
    init?(of bytes: [UInt8]) {
        guard let tokens = cjson_read_tokens(bytes, bytes.count) else { return nil }
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
