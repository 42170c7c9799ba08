import JSONDocument
import Testing

@Suite("JSON Schema: references inside a document")
struct SchemaReferenceTests {
    @Test(
        "go by JSON Pointer, by $id and by the plain name of an $id",
        arguments: [
            ##"{"items":{"$ref":"#text"},"definitions":{"a":{"$id":"#text","type":"string"}}}"##,
            ##"{"items":{"$ref":"text.json"},"definitions":{"a":{"$id":"text.json","type":"string"}}}"##,
            ##"{"$id":"https://a.example/b/c.json","items":{"$ref":"../text"},"definitions":{"a":{"$id":"/text","type":"string"}}}"##,
            ##"{"$id":"https://a.example/b/c","items":{"$ref":"https://a.example/b/c#text"},"definitions":{"a":{"$id":"#text","type":"string"}}}"##,
            ##"{"$id":"https://a.example/b","items":{"$ref":"//c.example/d#/definitions/e"},"definitions":{"c":{"$id":"//c.example/./x/../d","definitions":{"e":{"type":"string"}}}}}"##,
            ##"{"items":{"$ref":"urn:a:b#/definitions/c"},"definitions":{"a":{"$id":"urn:a:b","definitions":{"c":{"$ref":"#d"},"d":{"$id":"#d","type":"string"}}}}}"##,
            ##"{"items":{"$ref":"inner"},"definitions":{"a":{"$id":"inner","$ref":"#/definitions/c"},"b":{"$id":"inner","type":"string"},"c":{"type":"null"}}}"##,
            ##"{"items":{"$ref":"#/definitions//definitions/"},"definitions":{"":{"definitions":{"":{"type":"string"}}}}}"##,
            ##"{"items":{"$ref":"#/definitions/a%25b%22~1~0"},"definitions":{"a%b\"/~":{"type":"string"}}}"##,
            ##"{"items":{"$ref":"#/x-kept/0"},"x-kept":[{"$ref":"#/x-kept/1"},{"type":"string"}]}"##,
        ])
    func resolved(text: String) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: text))
        #expect(schema.accepts(["text"]))
        #expect(schema.violations(in: [1]).map(\.description) == ["/0 must be a string"])
    }

    @Test(
        "lead nowhere else",
        arguments: [
            ##"{"$ref":"https://json-schema.org/draft-07/schema#"}"##, ##"{"$ref":"#missing"}"##,
            ##"{"$id":"https://a.example/","items":{"$ref":"other"}}"##, ##"{"$ref":"#/a~2"}"##, ##"{"$ref":"#%4"}"##,
            ##"{"definitions":{"a":{"$id":"#a"},"b":{"$id":"#a"}}}"##, #"{"$id":1}"#,
            ##"{"enum":[{"$id":"#a"}],"items":{"$ref":"#a"}}"##,
        ])
    func refused(text: String) throws {
        let error = #expect(throws: JSONSchemaError.self) { try JSONSchema(try JSONDocument(parsing: text)) }
        #expect(error?.pointer.hasSuffix("$ref") == true || error?.pointer.hasSuffix("$id") == true)
    }

    /// `{"a":{"a":…1}}`
    private func nested(_ levels: Int) throws -> JSONDocument {
        try JSONDocument(
            parsing: String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels))
    }

    /// Definitions in which each combines the next, given as often as `count` says.
    private func chain(_ length: Int, count: Int, last: String) -> String {
        let links = (0..<length).map { link in
            let next = ##"{"$ref":"#/definitions/d\##(link + 1)"}"##
            return ##""d\##(link)":{"allOf":[\##(repeatElement(next, count: count).joined(separator: ","))]}"##
        }
        return
            ##"{"$ref":"#/definitions/d0","definitions":{\##(links.joined(separator: ",")),"d\##(length)":\##(last)}}"##
    }

    @Test("a schema that has exponentially many ways to one value is given up on, and nothing fits it")
    func exponential() throws {
        let twice = try JSONSchema(try JSONDocument(parsing: chain(30, count: 2, last: #"{"type":"integer"}"#)))
        #expect(!twice.accepts(1))
        #expect(!twice.accepts(JSONDocument(String(repeating: "a", count: 100_000))))
        #expect(twice.violations(in: 1).map(\.detail) == ["cannot be checked against the schema"])
    }

    @Test("a recursive schema decides in proportion to the document, however many ways lead to a value")
    func recursive() throws {
        let alternative = { (name: String) in
            ##"{"type":"object","properties":{"a":{"$ref":"#"}},"dependencies":{"a":{"not":{"required":["\##(name)"]}}}}"##
        }
        let schema = try JSONSchema(
            try JSONDocument(parsing: #"{"oneOf":[{"type":"integer"},\#(alternative("a")),\#(alternative("b"))]}"#))
        #expect(schema.accepts(try nested(3)))
        #expect(schema.accepts(try nested(60)))
        for keyword in ["anyOf", "allOf", "oneOf"] {
            let both = ##"{"properties":{"a":{"$ref":"#"}}}"##
            let schema = try JSONSchema(
                try JSONDocument(parsing: ##"{"type":"object","\##(keyword)":[\##(both),\##(both)]}"##))
            #expect(!schema.violations(in: try nested(60)).isEmpty)
            #expect(schema.accepts(try nested(60)) == false)
            #expect(schema.accepts(try nested(20).merging(try nested(60))) == false)
            let fits = try JSONDocument(parsing: try nested(60).description.replacing("1", with: "{}"))
            #expect(schema.accepts(fits) == (keyword != "oneOf"))
        }
    }

    @Test("a schema and a document that are both deep do not exhaust the stack")
    func deep() throws {
        let schema = try JSONSchema(
            try JSONDocument(parsing: chain(30, count: 1, last: ##"{"properties":{"a":{"$ref":"#"}}}"##)))
        #expect(schema.accepts(try nested(64)))
        let error = #expect(throws: JSONSchemaError.self) {
            try JSONSchema(try JSONDocument(parsing: chain(40, count: 1, last: "true")))
        }
        #expect(error?.detail == "More than 32 subschemas inside each other apply to one value.")
    }
}
