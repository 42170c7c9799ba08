import JSONDocument

extension JSONWriter {
    /// `{"$ref": …}` to one of the components.
    mutating func reference(_ section: String, _ name: String) {
        beginObject()
        member("$ref", "#/components/\(section)/\(name)")
        endObject()
    }

    mutating func headers(_ headers: [APIHeader]) {
        object("headers") { json in
            for header in headers {
                json.name(header.rawValue)
                json.reference("headers", header.rawValue)
            }
        }
    }

    /// Bodies by their media types; nothing for none.
    mutating func contents(_ contents: [(mediaType: String, schema: APISchema)]) {
        guard !contents.isEmpty else { return }
        object("content") { json in
            for (mediaType, schema) in contents {
                json.object(mediaType) { json in
                    json.name("schema")
                    json.reference("schemas", schema.rawValue)
                }
            }
        }
    }
}
