import JSONDocument

/// Encodes a value as a document. The members of an object are sorted, as in every document, so equal values give equal
/// documents.
final class DocumentEncoder: Encoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var content = Content.nothing

    private enum Content {
        case nothing
        case value(JSONDocument)
        case object([String: Part])
        case array([Part])
    }

    /// What a container holds: it is encoded already, or something holds its encoder.
    private enum Part {
        case document(JSONDocument)
        case open(DocumentEncoder)

        var document: JSONDocument {
            switch self {
            case .document(let document): document
            case .open(let encoder): encoder.document
            }
        }
    }

    fileprivate init(at path: [any CodingKey]) { codingPath = path }

    static func encode(_ value: some Encodable, at path: [any CodingKey] = []) throws -> JSONDocument {
        if let scalar = value as? any JSONScalar { return try scalar.document(at: path) }
        let encoder = DocumentEncoder(at: path)
        try value.encode(to: encoder)
        return encoder.document
    }

    private var document: JSONDocument {
        switch content {
        case .nothing: .emptyObject
        case .value(let document): document
        case .object(let members):
            JSONDocument(members: members.map { (name: $0.key, value: $0.value.document) })
        case .array(let elements): JSONDocument(elements.map(\.document))
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = content {} else { content = .object([:]) }
        return KeyedEncodingContainer(Members<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = content {} else { content = .array([]) }
        return Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Value(encoder: self) }

    // MARK: Containers

    private struct Value: SingleValueEncodingContainer {
        let encoder: DocumentEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.content = .value(.null) }

        func encode<Value: Encodable>(_ value: Value) throws {
            encoder.content = .value(try DocumentEncoder.encode(value, at: codingPath))
        }
    }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: DocumentEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil(forKey key: Key) { encoder.set(key, .document(.null)) }

        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            encoder.set(key, .document(try DocumentEncoder.encode(value, at: codingPath + [key])))
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            encoder.open(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            encoder.open(key).unkeyedContainer()
        }

        func superEncoder() -> any Encoder { encoder.open(DocumentKey("super")) }

        func superEncoder(forKey key: Key) -> any Encoder { encoder.open(key) }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let encoder: DocumentEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { encoder.count }

        func encodeNil() { encoder.append(.document(.null)) }

        func encode<Value: Encodable>(_ value: Value) throws {
            encoder.append(
                .document(try DocumentEncoder.encode(value, at: codingPath + [DocumentKey(count)])))
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<
            Nested
        > {
            encoder.openElement().container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            encoder.openElement().unkeyedContainer()
        }

        func superEncoder() -> any Encoder { encoder.openElement() }
    }

    private var count: Int { if case .array(let elements) = content { elements.count } else { 0 } }

    private func set(_ key: any CodingKey, _ part: Part) {
        guard case .object(var members) = content else { return }
        // Not held twice, so that it is changed in place.
        content = .nothing
        members[key.stringValue] = part
        content = .object(members)
    }

    private func append(_ part: Part) {
        guard case .array(var elements) = content else { return }
        content = .nothing
        elements.append(part)
        content = .array(elements)
    }

    private func open(_ key: any CodingKey) -> DocumentEncoder {
        let encoder = DocumentEncoder(at: codingPath + [key])
        set(key, .open(encoder))
        return encoder
    }

    private func openElement() -> DocumentEncoder {
        let encoder = DocumentEncoder(at: codingPath + [DocumentKey(count)])
        append(.open(encoder))
        return encoder
    }
}
