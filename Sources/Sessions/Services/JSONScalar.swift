import JSONDocument

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
