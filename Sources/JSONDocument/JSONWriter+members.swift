/// Writes members of the current object, one in each call. A name is a literal: see ``JSONWriter/name(_:)``.
extension JSONWriter {
    package mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        string(value)
    }

    package mutating func member(_ name: StaticString, _ value: Int) {
        self.name(name)
        int(value)
    }

    package mutating func member(_ name: StaticString, _ value: UInt64) {
        self.name(name)
        uint(value)
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    /// With null where there is no value.
    package mutating func member(_ name: StaticString, _ value: String?) {
        self.name(name)
        if let value { string(value) } else { null() }
    }

    package mutating func member(_ name: StaticString, _ value: JSONDocument) {
        self.name(name)
        document(value)
    }

    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    package mutating func object(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        object(write)
    }

    package mutating func array(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        beginArray()
        write(&self)
        endArray()
    }

    /// An array with an object for each item.
    package mutating func objects<Item>(
        _ name: StaticString, _ items: some Sequence<Item>, _ write: (inout JSONWriter, Item) -> Void
    ) {
        array(name) { json in
            for item in items {
                json.object { write(&$0, item) }
            }
        }
    }
}
