import JSONDocument

/// Values of Swift as documents: the only place that knows how `Codable` is read and written.
enum TypedJSON {
    static func document(of value: some Encodable) throws -> JSONDocument { try DocumentEncoder.encode(value) }

    static func decode<Value: Decodable>(_ type: Value.Type, _ document: JSONDocument) throws(InvalidInput) -> Value {
        do {
            return try DocumentDecoder.decode(type, document)
        } catch let error as DecodingError {
            throw InvalidInput(error)
        } catch {
            throw InvalidInput(pointer: "", detail: "cannot be read")
        }
    }
}

extension InvalidInput {
    /// - Parameter error: of a decoder that has read JSON.
    fileprivate init(_ error: DecodingError) {
        func place(_ path: [any CodingKey]) -> String {
            JSONPointer(path.map { $0.intValue.map(String.init) ?? $0.stringValue }).description
        }
        switch error {
        case .keyNotFound(let key, let context):
            self.init(pointer: place(context.codingPath + [key]), detail: "is required")
        case .valueNotFound(_, let context): self.init(pointer: place(context.codingPath), detail: "must not be null")
        case .typeMismatch(let type, let context):
            self.init(pointer: place(context.codingPath), detail: "must be a value of the type \(type)")
        case .dataCorrupted(let context):
            self.init(pointer: place(context.codingPath), detail: "is not a value that can be used here")
        @unknown default: self.init(pointer: "", detail: "cannot be read")
        }
    }
}

extension JSONDocument {
    /// A JSON Schema of documents that look like this one. A member may be missing, since it may be optional, and a
    /// null says nothing. Whether a document decodes is asked besides.
    var shape: JSONDocument {
        switch kind {
        case .null: [:]
        case .bool: ["type": "boolean"]
        // 0 may be the default of a number with a fraction. Up to here integers are exact everywhere (RFC 8259, 6), and
        // code can still add to them.
        case .integer, .double:
            [
                "type": "number", "minimum": -9_007_199_254_740_991, "maximum": 9_007_199_254_740_991,
            ]
        case .string: ["type": "string"]
        case .array: ["type": "array"]
        case .object:
            [
                "type": "object",
                "properties": JSONDocument(members: (members ?? []).map { (name: $0.name, value: $0.value.shape) }),
            ]
        }
    }
}
