/// A document as a part of a value that is encoded or decoded.
extension JSONDocument: Codable {
    /// Any value.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self.init(bool)
        } else if let int = try? value.decode(Int.self) {
            self.init(int)
        } else if let double = try? value.decode(Double.self) {
            self.init(double)
        } else if let string = try? value.decode(String.self) {
            self.init(string)
        } else if let elements = try? value.decode([JSONDocument].self) {
            self.init(elements)
        } else {
            self.init(members: try value.decode([String: JSONDocument].self).map { (name: $0.key, value: $0.value) })
        }
    }

    /// The value as it is.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        if let members {
            try value.encode(Dictionary(members.map { ($0.name, $0.value) }) { _, last in last })
        } else if let elements {
            try value.encode(elements)
        } else if let string {
            try value.encode(string)
        } else if let int {
            try value.encode(int)
        } else if let double {
            try value.encode(double)
        } else if let bool {
            try value.encode(bool)
        } else {
            try value.encodeNil()
        }
    }
}
