import CJSON

/// Ends the process, as Swift's own allocations do: a `cjson_` function that makes a value or a text fails only when
/// memory runs out.
func outOfMemory() -> Never { fatalError("Out of memory for JSON.") }

/// Reads the texts of `cjson_` functions.
enum JSONText {
    /// A copy of bytes that a C callback was given.
    static func string(_ start: UnsafePointer<UInt8>?, _ length: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Text that a `cjson_` function has serialised. Copy it before this thread calls another one.
    static func serialized(_ text: UnsafePointer<UInt8>?, _ length: Int) -> UnsafeBufferPointer<UInt8> {
        guard let text else { outOfMemory() }
        return UnsafeBufferPointer(start: text, count: length)
    }

    /// Copies and frees a text; `nil` for NULL, which stands for a text that a failure does not have.
    static func string(adopting text: OpaquePointer?) -> String? {
        guard let text else { return nil }
        defer { cjson_text_free(text) }
        var length = 0
        let start = cjson_text_bytes(text, &length)
        return string(start, length)
    }
}
