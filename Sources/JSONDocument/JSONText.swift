import CJSON

/// Bytes that the library made, on their way into Swift's hands.
enum JSONText {
    /// What a `cjson_` function has serialised, to be copied before this thread calls another one.
    static func serialized(_ text: UnsafePointer<UInt8>?, _ length: Int) -> UnsafeBufferPointer<UInt8> {
        guard let text else { fatalError("Out of memory for JSON text.") }
        return UnsafeBufferPointer(start: text, count: length)
    }

    /// `nil` for NULL, for texts that a failure may lack.
    static func string(adopting text: OpaquePointer?) -> String? {
        guard let text else { return nil }
        defer { cjson_text_free(text) }
        var length = 0
        let start = cjson_text_bytes(text, &length)
        return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }
}
