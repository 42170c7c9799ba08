import JSONDocument

/// A schema with its texts for people, each at its place.
struct SchemaTexts: Sendable {
    /// The schema with the index of a text, as a string, in place of each.
    private let numbered: JSONDocument
    private let texts: [TextTemplate]

    /// The author's own text for a value that does not fit.
    static let sayKey = "x-say"

    /// - Parameter read: returns nil for what is not a text.
    init(
        of schema: JSONDocument, at place: JSONPointer = .root,
        reading read: (JSONDocument, JSONPointer) -> TextTemplate? = { value, _ in value.string.map { TextTemplate($0) }
        }
    ) {
        var texts: [TextTemplate] = []
        numbered = Self.map(schema, at: place) { value, place in
            guard let text = read(value, place) else { return value }
            texts.append(text)
            return JSONDocument("\(texts.count - 1)")
        }
        self.texts = texts
    }

    /// Whether the schema alone does not say it all.
    var isNeeded: Bool {
        texts.contains { !$0.isBare } || SchemaRoom.mentions(in: numbered) { $0 == Self.sayKey }
    }

    /// The services whose documents they show parts of.
    var services: Set<String> { texts.reduce(into: []) { $0.formUnion($1.services) } }

    /// The schema with its texts as strings.
    func schema(_ text: (TextTemplate, JSONPointer) -> String) -> JSONDocument {
        Self.map(numbered, at: .root) { value, place in
            value.string.flatMap(text(numbered:)).map { JSONDocument(text($0, place)) } ?? value
        }
    }

    /// The author's text beside the schema of a value.
    func say(at pointer: JSONPointer) -> TextTemplate? {
        SchemaRoom(numbered).say(at: pointer).flatMap(text(numbered:))
    }

    private func text(numbered number: String) -> TextTemplate? {
        Int(number).flatMap { texts.indices.contains($0) ? texts[$0] : nil }
    }

    /// The schema with its texts changed. A property may be named `title`, too: names are not keywords.
    private static func map(
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
