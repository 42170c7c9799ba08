import CJSON

extension JSONDocument {
    /// Which kind of JSON value it is.
    public var kind: JSONKind {
        switch cjson_kind_of(value) {
        case .CJSON_NULL: .null
        case .CJSON_BOOL: .bool
        case .CJSON_INTEGER, .CJSON_UNSIGNED: .integer
        case .CJSON_DOUBLE: .double
        case .CJSON_STRING: .string
        case .CJSON_ARRAY: .array
        case .CJSON_OBJECT: .object
        }
    }

    /// Whether it is `null`.
    public var isNull: Bool { kind == .null }

    /// The value of a boolean; `nil` for anything else.
    public var bool: Bool? { kind == .bool ? cjson_bool(value) : nil }

    /// The number when it is whole, however it is written (`3`, `3.0`, `3e0`), and fits an `Int`.
    public var int: Int? {
        var result: Int64 = 0
        return cjson_integer(value, &result) ? Int(result) : nil
    }

    /// Any number, rounded to the nearest double where it has more digits than that.
    public var double: Double? {
        var result = 0.0
        return cjson_double(value, &result) ? result : nil
    }

    /// The value of a string; `nil` for anything else.
    public var string: String? {
        var length = 0
        return cjson_string(value, &length).map { JSONText.string($0, length) }
    }

    /// The number of elements or members; 0 for other kinds.
    public var count: Int { cjson_count(value) }

    /// How deep arrays and objects are nested: 0 for a scalar, 1 for `[]`.
    public var depth: Int { cjson_depth(value) }

    /// How much work it is to go through it: one for each value, and for each 32 bytes of text. Stops counting at a
    /// limit.
    package func weight(atMost limit: Int) -> Int { cjson_weight(value, limit) }

    /// The elements of an array, `nil` for other kinds.
    public var elements: [JSONDocument]? {
        guard kind == .array else { return nil }
        return (0..<count).compactMap { self[$0] }
    }

    /// The members of an object sorted by name, `nil` for other kinds.
    public var members: [(name: String, value: JSONDocument)]? {
        guard kind == .object else { return nil }
        return (0..<count).compactMap { index in
            var (name, length): (UnsafePointer<UInt8>?, Int) = (nil, 0)
            guard let member = cjson_member_at(value, index, &name, &length) else { return nil }
            return (JSONText.string(name, length), JSONDocument(member, in: owner))
        }
    }

    /// An element of an array; `nil` beyond its end and for other kinds.
    public subscript(index: Int) -> JSONDocument? {
        guard index >= 0, let element = cjson_element(value, index) else { return nil }
        return JSONDocument(element, in: owner)
    }

    /// A member of an object; `nil` when it has none of that name and for other kinds.
    public subscript(member name: String) -> JSONDocument? {
        var name = name
        guard let member = name.withUTF8({ cjson_member(value, $0.baseAddress, $0.count) }) else { return nil }
        return JSONDocument(member, in: owner)
    }
}
