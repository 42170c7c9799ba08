import CJSON

extension JSONDocument {
    /// Parses UTF-8 text strictly: RFC 8259 as narrowed by I-JSON (RFC 7493).
    ///
    /// Beyond the grammar, this refuses a member name that occurs twice in an object, a byte order mark, bytes that are
    /// not UTF-8, an escaped surrogate without its partner, more than 64 levels of nesting, and numbers beyond a
    /// double. Integers beyond 64 bits become doubles, and lose digits.
    ///
    /// - Parameter comments: Whether `//` and `/* */` may stand where white space may, as in configuration files.
    /// - Throws: `JSONParseError`, with the place.
    public init(parsing bytes: UnsafeRawBufferPointer, comments: Bool = false) throws(JSONParseError) {
        try self.init(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, comments)
    }

    /// Parses UTF-8 text; see `init(parsing:comments:)` for raw buffers.
    public init(parsing bytes: [UInt8], comments: Bool = false) throws(JSONParseError) {
        try self.init(bytes, bytes.count, comments)
    }

    /// Parses text; see `init(parsing:comments:)` for raw buffers. Offsets count UTF-8 bytes.
    public init(parsing text: String, comments: Bool = false) throws(JSONParseError) {
        try self.init(parsing: Array(text.utf8), comments: comments)
    }

    private init(_ start: UnsafePointer<UInt8>?, _ count: Int, _ comments: Bool) throws(JSONParseError) {
        var failure = cjson_parse_failure()
        guard let root = cjson_parse(start, count, comments, &failure) else { throw JSONParseError(adopting: failure) }
        self.init(Owner(adopting: root))
    }

    /// The document as compact UTF-8 text, members sorted by name.
    public func serialized() -> [UInt8] {
        var length = 0
        let text = cjson_serialize(value, &length)
        return Array(JSONText.serialized(text, length))
    }
}
