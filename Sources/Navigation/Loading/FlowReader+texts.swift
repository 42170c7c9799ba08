import JSONDocument

/// Texts for people: one, or one in each of several languages, `{"en": "…", "de": "…"}`.
extension FlowReader {
    /// - Returns: the text in its first language.
    mutating func localText(_ key: String, in object: JSONDocument, at place: JSONPointer) -> String? {
        guard let value = object[member: key], value.kind == .object else { return text(key, in: object, at: place) }
        return localText(value, at: place.appending(key))
    }

    private mutating func localText(_ value: JSONDocument, at place: JSONPointer) -> String? {
        // Members are sorted by name, and the first language is the one that the file has first.
        let known = places ?? JSONPlaces(of: source)
        places = known
        let members = (value.members ?? []).sorted {
            (known.offset(of: place.appending($0.name)) ?? 0) < (known.offset(of: place.appending($1.name)) ?? 0)
        }
        if members.isEmpty {
            report(place, .badValue, "the text has no languages; write {\"en\": \"…\", \"de\": \"…\"}")
        }
        var texts: [(language: String, text: String)] = []
        for (language, value) in members {
            guard Self.isLanguage(language) else {
                report(
                    place.appending(language), .badName,
                    "\"\(language)\" is not a language; languages are written as \"en\", \"de\" or \"pt-BR\"")
                continue
            }
            guard let text = value.string else {
                report(
                    place.appending(language), .wrongType, "the text is \(value.kind.phrase); expected a string")
                continue
            }
            texts.append((language, text))
        }
        self.texts.add(texts)
        return texts.first?.text
    }

    /// RFC 5646, as far as its syntax goes.
    private static func isLanguage(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        return parts.enumerated().allSatisfy { index, part in
            (1...8).contains(part.count) && part.allSatisfy { isLetter($0) || (index > 0 && isDigit($0)) }
        } && (parts.first?.count ?? 0) >= 2
    }

    /// A schema whose `title`, `description` and `x-say` are texts in their first language.
    mutating func withLocalTexts(_ schema: JSONDocument, at place: JSONPointer) -> JSONDocument {
        guard Self.mayHaveLocalTexts(schema) else { return schema }
        return SchemaTexts.map(schema, at: place) { value, place in
            value.kind == .object ? localText(value, at: place).map { JSONDocument($0) } ?? value : value
        }
    }

    /// Nearly no schema has any, and then it is not copied.
    private static func mayHaveLocalTexts(_ schema: JSONDocument) -> Bool {
        if let elements = schema.elements { return elements.contains(where: mayHaveLocalTexts) }
        return schema.members?.contains { name, value in
            (SchemaTexts.keys.contains(name) && value.kind == .object) || mayHaveLocalTexts(value)
        } ?? false
    }
}

/// The places of a schema at which texts for people stand.
public enum SchemaTexts {
    static let keys = ["title", "description", sayKey]
    /// The author's own text for a value that does not fit.
    static let sayKey = "x-say"

    /// The schema with its texts in a language.
    public static func translated(_ schema: JSONDocument, by texts: FlowTexts, to language: String) -> JSONDocument {
        map(schema, at: .root) { value, _ in
            value.string.map { JSONDocument(texts.text($0, in: language)) } ?? value
        }
    }

    /// The schema with its texts changed. A property may be named `title`, too: names are not keywords.
    static func map(
        _ schema: JSONDocument, at place: JSONPointer, _ change: (JSONDocument, JSONPointer) -> JSONDocument
    ) -> JSONDocument {
        guard let members = schema.members else { return schema }
        return JSONDocument(
            members: members.map { name, value in
                let place = place.appending(name)
                switch name {
                case "title", "description", sayKey: return (name: name, value: change(value, place))
                case "properties", "patternProperties", "definitions", "dependencies":
                    let parts = value.members?.map {
                        (name: $0.name, value: map($0.value, at: place.appending($0.name), change))
                    }
                    return (name: name, value: parts.map { JSONDocument(members: $0) } ?? value)
                case "items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if",
                    "then",
                    "else", "allOf", "anyOf", "oneOf":
                    guard let elements = value.elements else {
                        return (name: name, value: map(value, at: place, change))
                    }
                    let parts = elements.enumerated().map { map($0.element, at: place.appending($0.offset), change) }
                    return (name: name, value: JSONDocument(parts))
                default: return (name: name, value: value)
                }
            })
    }
}
