import CJSON

extension JSONDocument {
    /// The value `null`.
    public static let null = JSONDocument(Owner(adopting: cjson_new_null()))
    /// The object `{}`.
    public static let emptyObject = JSONDocument(Owner(adopting: cjson_new_object()))

    /// A boolean.
    public init(_ value: Bool) { self.init(Owner(adopting: cjson_new_bool(value))) }

    /// An integer.
    public init(_ value: Int) { self.init(Owner(adopting: cjson_new_integer(Int64(value)))) }

    /// Infinities and NaN, which JSON does not have, become `null`.
    public init(_ value: Double) { self.init(Owner(adopting: cjson_new_double(value))) }

    /// A string.
    public init(_ value: String) {
        var value = value
        self.init(Owner(adopting: value.withUTF8 { cjson_new_string($0.baseAddress, $0.count) }))
    }

    /// An array of copies of `elements`.
    public init(_ elements: [JSONDocument]) {
        let owner = Owner(adopting: cjson_new_array())
        for element in elements where !cjson_array_append(owner.root, element.value) {
            outOfMemory()
        }
        self.init(owner)
    }

    /// An object of copies of `members`; of several members with one name, the last one stays.
    public init(members: some Sequence<(name: String, value: JSONDocument)>) {
        let owner = Owner(adopting: cjson_new_object())
        for (name, member) in members {
            var name = name
            let set = name.withUTF8 { cjson_object_set(owner.root, $0.baseAddress, $0.count, member.value) }
            guard set else { outOfMemory() }
        }
        self.init(owner)
    }
}

extension JSONDocument: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .null }
}

extension JSONDocument: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self.init(value) }
}

extension JSONDocument: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int) { self.init(value) }
}

extension JSONDocument: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self.init(value) }
}

extension JSONDocument: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension JSONDocument: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: JSONDocument...) { self.init(elements) }
}

extension JSONDocument: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral members: (String, JSONDocument)...) {
        self.init(members: members.lazy.map { (name: $0.0, value: $0.1) })
    }
}
