import JSONDocument

/// Values of Swift as documents: the only place that knows how `Codable` is read and written.
enum TypedJSON {
    static func document(of value: some Encodable) throws -> JSONDocument { try DocumentEncoder.encode(value) }

    static func decode<Value: Decodable>(_ type: Value.Type, _ document: JSONDocument) throws(JSONViolation) -> Value {
        do {
            return try DocumentDecoder.decode(type, document)
        } catch let error as DecodingError {
            throw JSONViolation(error)
        } catch {
            throw JSONViolation(pointer: "", detail: "cannot be read")
        }
    }
}

extension JSONViolation {
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

/// A value of Swift that is one value of JSON, or a document that is kept as it is.
protocol JSONScalar {
    init?(in document: JSONDocument)
    /// - Throws: `EncodingError` when JSON has no such value.
    func document(at path: [any CodingKey]) throws -> JSONDocument
}

extension JSONDocument: JSONScalar {
    init?(in document: JSONDocument) { self = document }

    func document(at path: [any CodingKey]) -> JSONDocument { self }
}

extension Bool: JSONScalar {
    init?(in document: JSONDocument) {
        guard let value = document.bool else { return nil }
        self = value
    }

    func document(at path: [any CodingKey]) -> JSONDocument { JSONDocument(self) }
}

extension String: JSONScalar {
    init?(in document: JSONDocument) {
        guard let value = document.string else { return nil }
        self = value
    }

    func document(at path: [any CodingKey]) -> JSONDocument { JSONDocument(self) }
}

extension JSONScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
    init?(in document: JSONDocument) {
        guard let value = document.double else { return nil }
        self.init(value)
    }

    func document(at path: [any CodingKey]) throws -> JSONDocument {
        // By its digits: a Float has more of them as a Double.
        guard isFinite, let value = Double(description) else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: path, debugDescription: "JSON has no number \(self)."))
        }
        return JSONDocument(value)
    }
}

extension Double: JSONScalar {}
extension Float: JSONScalar {}

extension JSONScalar where Self: FixedWidthInteger {
    init?(in document: JSONDocument) {
        if let value = document.int {
            self.init(exactly: value)
        } else {
            // Beyond Int.
            guard document.kind == .integer else { return nil }
            self.init(document.description)
        }
    }

    func document(at path: [any CodingKey]) throws -> JSONDocument {
        if let value = Int(exactly: self) { return JSONDocument(value) }
        return try JSONDocument(parsing: Array(description.utf8))
    }
}

extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
