import JSONDocument

/// Decodes a value from a document.
struct DocumentDecoder: Decoder {
    let document: JSONDocument
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Value: Decodable>(
        _ type: Value.Type, _ document: JSONDocument, at path: [any CodingKey] = []
    ) throws -> Value {
        let decoder = DocumentDecoder(document: document, codingPath: path)
        guard let scalar = type as? any JSONScalar.Type else { return try Value(from: decoder) }
        if let value = scalar.init(in: document) as? Value { return value }
        throw decoder.mismatch(type)
    }

    fileprivate func mismatch(_ type: any Any.Type) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "It is \(document.kind).")
        return document.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.kind == .object else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(Members<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.kind == .array else { throw mismatch([Any].self) }
        return Elements(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { Value(decoder: self) }

    // MARK: Containers

    private struct Value: SingleValueDecodingContainer {
        let decoder: DocumentDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }

        func decodeNil() -> Bool { decoder.document.isNull }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try DocumentDecoder.decode(type, decoder.document, at: codingPath)
        }
    }

    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: DocumentDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }
        var allKeys: [Key] { (decoder.document.members ?? []).compactMap { Key(stringValue: $0.name) } }

        func contains(_ key: Key) -> Bool {
            decoder.document[member: key.stringValue].map { _ in true } ?? false
        }

        func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try DocumentDecoder.decode(type, member(key), at: codingPath + [key])
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            try nested(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try nested(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { try nested(DocumentKey("super")) }

        func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }

        private func nested(_ key: any CodingKey) throws -> DocumentDecoder {
            DocumentDecoder(document: try member(key), codingPath: codingPath + [key])
        }

        private func member(_ key: any CodingKey) throws -> JSONDocument {
            guard let member = decoder.document[member: key.stringValue] else {
                throw DecodingError.keyNotFound(
                    key, .init(codingPath: codingPath, debugDescription: "It is missing."))
            }
            return member
        }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let decoder: DocumentDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }
        var count: Int? { decoder.document.count }
        var isAtEnd: Bool { currentIndex >= decoder.document.count }
        private(set) var currentIndex = 0

        init(decoder: DocumentDecoder) { self.decoder = decoder }

        mutating func decodeNil() throws -> Bool {
            guard try next().document.isNull else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let next = try next()
            let value = try DocumentDecoder.decode(type, next.document, at: next.codingPath)
            currentIndex += 1
            return value
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> {
            try superDecoder().container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try superDecoder().unkeyedContainer()
        }

        mutating func superDecoder() throws -> any Decoder {
            defer { currentIndex += 1 }
            return try next()
        }

        private func next() throws -> DocumentDecoder {
            let path = codingPath + [DocumentKey(currentIndex)]
            guard let element = decoder.document[currentIndex] else {
                throw DecodingError.valueNotFound(
                    Any.self, .init(codingPath: path, debugDescription: "It is missing."))
            }
            return DocumentDecoder(document: element, codingPath: path)
        }
    }
}

/// The place of an element, or a name.
struct DocumentKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
    init(stringValue: String) { self.init(stringValue) }
    init(intValue: Int) { self.init(intValue) }
}
