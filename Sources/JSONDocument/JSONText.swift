import CJSON

/// Copies bytes that the library made into Swift's hands and frees them.
enum JSONText {
    static func bytes(adopting text: OpaquePointer?) -> [UInt8] {
        guard let text else { fatalError("Out of memory for JSON text.") }
        defer { cjson_text_free(text) }
        var length = 0
        let start = cjson_text_bytes(text, &length)
        return [UInt8](UnsafeBufferPointer(start: start, count: length))
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
