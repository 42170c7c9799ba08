import JSONDocument

/// Members of the object that was begun, each in one call.
extension JSONWriter {
    mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: Int) {
        self.name(name)
        int(value)
    }

    mutating func object(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        beginObject()
        write(&self)
        endObject()
    }

    mutating func array(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        beginArray()
        write(&self)
        endArray()
    }
}
