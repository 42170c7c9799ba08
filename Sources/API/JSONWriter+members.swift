import JSONDocument

/// Writes members of the current object, one in each call.
extension JSONWriter {
    package mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    package mutating func member(_ name: String, _ value: Int) {
        self.name(name)
        int(value)
    }

    package mutating func object(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        beginObject()
        write(&self)
        endObject()
    }

    package mutating func array(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        beginArray()
        write(&self)
        endArray()
    }
}
