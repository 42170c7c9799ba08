import JSONDocument
import Testing

@Suite("JSON Schema: our sentences and our bounds")
struct JSONSchemaTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let schema: String
        let document: String
        let violations: [String]

        init(_ schema: String, _ document: String, _ violations: String...) {
            (self.schema, self.document, self.violations) = (schema, document, violations)
        }

        var testDescription: String { "\(schema) with \(document.prefix(60))" }
    }

    static let explained = [
        Case(#"{"type":"string"}"#, "1", "The document must be a string"),
        Case(#"{"properties":{"a":{"type":["string","null"]}}}"#, #"{"a":1}"#, "/a must be a string or null"),
        Case(#"{"items":{"type":"integer"}}"#, #"[1,1.5,"x"]"#, "/1 must be an integer", "/2 must be an integer"),
        Case(#"{"properties":{"a":{"type":"boolean"}}}"#, #"{"a":0}"#, "/a must be a boolean"),
        Case(#"{"required":["a","b/c"]}"#, "{}", "/a is required", "/b~1c is required"),
        Case(
            #"{"properties":{"in":{"required":["x"]}}}"#, #"{"in":{}}"#, "/in/x is required"),
        Case(#"{"additionalProperties":false}"#, #"{"a/b":1,"c":2}"#, "/a~1b is not allowed", "/c is not allowed"),
        Case(#"{"properties":{"a":false}}"#, #"{"a":1}"#, "/a is not allowed"),
        Case("false", "1", "The document is not allowed"),
        Case(#"{"minLength":1}"#, #""""#, "The document must have at least 1 character"),
        Case(#"{"minLength":2}"#, #""é""#, "The document must have at least 2 characters"),
        Case(#"{"maxLength":2}"#, #""abc""#, "The document must have at most 2 characters"),
        Case(#"{"pattern":"^a+$"}"#, #""b""#, "The document must match the pattern ^a+$"),
        Case(#"{"minimum":1.5}"#, "1", "The document must be at least 1.5"),
        Case(#"{"minimum":1.0}"#, "0", "The document must be at least 1"),
        Case(#"{"exclusiveMinimum":0}"#, "0", "The document must be greater than 0"),
        Case(#"{"maximum":10}"#, "11", "The document must be at most 10"),
        Case(#"{"exclusiveMaximum":10}"#, "10", "The document must be less than 10"),
        Case(#"{"multipleOf":2}"#, "3", "The document must be a multiple of 2"),
        Case(#"{"multipleOf":2}"#, "2.5", "The document must be a multiple of 2"),
        Case(#"{"format":"email"}"#, #""ada""#, "The document must be an email address"),
        Case(#"{"minItems":1}"#, "[]", "The document must have at least 1 element"),
        Case(#"{"maxItems":1}"#, "[1,2]", "The document must have at most 1 element"),
        Case(#"{"uniqueItems":true}"#, "[1,2,1.0]", "/2 must not repeat an earlier element"),
        Case(
            #"{"contains":{"const":1}}"#, "[2]", "The document must contain at least one element of the required form"),
        Case(#"{"items":[{}],"additionalItems":false}"#, "[1,2]", "/1 is not allowed"),
        Case(#"{"minProperties":1}"#, "{}", "The document must have at least 1 member"),
        Case(#"{"maxProperties":1}"#, #"{"a":1,"b":1}"#, "The document must have at most 1 member"),
        Case(#"{"propertyNames":{"maxLength":1}}"#, #"{"ab":1}"#, "/ab has a name that is not allowed"),
        Case(#"{"patternProperties":{"^x":{"type":"null"}}}"#, #"{"x1":1}"#, "/x1 must be null"),
        Case(#"{"dependencies":{"a":["b"]}}"#, #"{"a":1}"#, #"/b is required where there is "a""#),
        Case(#"{"dependencies":{"a":{"required":["b"]}}}"#, #"{"a":1}"#, "/b is required"),
        Case(#"{"const":{"a":1}}"#, "1", #"The document must be {"a":1}"#),
        Case(#"{"enum":["a","b",null]}"#, #""c""#, #"The document must be one of "a", "b" or null"#),
        Case(#"{"not":{"type":"string"}}"#, #""c""#, "The document has a form that is not allowed"),
        Case(
            #"{"allOf":[{"minimum":2},{"multipleOf":2}]}"#, "1", "The document must be at least 2",
            "The document must be a multiple of 2"),
        Case(#"{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}"#, "{}", "/a is required"),
        Case(#"{"anyOf":[{"minimum":2},{"maximum":0}]}"#, "1", "The document must have one of the allowed forms"),
        Case(
            #"{"oneOf":[{"minimum":0},{"maximum":2}]}"#, "1",
            "The document must have only one of the allowed forms, and has several"),
        Case(
            #"{"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"null"}}},{"properties":{"k":{"const":"b"}}}]}"#,
            #"{"k":"a","n":1}"#, "/n must be null"),
        Case(#"{"if":{"required":["a"]},"then":{"required":["b"]}}"#, #"{"a":1}"#, "/b is required"),
        Case(
            ##"{"definitions":{"n":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/n"}}}"##, ##"{"a":1}"##,
            "/a must be a string"),
        Case(
            ##"{"properties":{"kids":{"items":{"$ref":"#"}}},"required":["name"]}"##,
            #"{"name":1,"kids":[{"name":1},{"kids":[{}],"name":2}]}"#, "/kids/1/kids/0/name is required"),
    ]

    @Test("says what is wrong and where, in our words", arguments: explained)
    func explains(_ example: Case) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: example.schema))
        let violations = schema.violations(in: try JSONDocument(parsing: example.document))
        #expect(violations.map(\.description) == example.violations)
    }

    static let accepted: [(String, String)] = [
        (#"{"type":"integer"}"#, "1.0"),
        (#"{"minimum":0}"#, "18446744073709551615"),
        (#"{"maxLength":3}"#, #""\u0000éa""#),
        (#"{"format":"hostname"}"#, #""not one!""#),
        (##"{"id":"http://example.org/","items":{"$ref":"#/definitions/a"},"definitions":{"a":{}}}"##, "[1]"),
        (
            #"{"items":{"allOf":[{"anyOf":[{"minimum":9},{"type":"null"},{"maximum":5}]},{"enum":["a",1]}]}}"#,
            "[\(repeatElement("1", count: 100_000).joined(separator: ","))]"
        ),
        (##"{"definitions":{"a b%":{}},"items":{"$ref":"#/definitions/a%20b%25"}}"##, "[1]"),
        (#"{"unknown":{"pattern":"("}}"#, "1"),
        // A propertyNames inside something that is referred to.
        (
            ##"{"items":{"$ref":"#/definitions/o"},"definitions":{"o":{"type":"object","propertyNames":{"maxLength":2}}}}"##,
            #"[{"ab":1}]"#
        ),
    ]

    @Test("accepts", arguments: accepted)
    func accepts(schema: String, document: String) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: schema))
        #expect(schema.violations(in: try JSONDocument(parsing: document)).isEmpty)
    }

    /// Documents that look for a way round a schema, or that make validating slow or deep.
    static let hostile: [(schema: String, document: String)] = [
        (#"{"pattern":"^(.|x)*$"}"#, "\"\(String(repeating: "a", count: 1_000_000))\""),
        (#"{"pattern":"^(.|x)*$"}"#, "\"\\u0000\(String(repeating: "a", count: 1_000_000))\""),
        (#"{"maxLength":3}"#, #""\u0000abc""#),
        (#"{"maximum":100}"#, "18446744073709551615"),
        (#"{"multipleOf":1}"#, "1.5"),
        (#"{"patternProperties":{"^(.|x)*$":{}}}"#, "{\"\(String(repeating: "a", count: 1_000_000))\":1}"),
        (#"{"propertyNames":{"maxLength":3}}"#, #"{"\u0000abc":1}"#),
        (#"{"uniqueItems":true}"#, "[\((0..<100_000).map(String.init).joined(separator: ",")),7.0]"),
        (#"{"items":{"propertyNames":{"pattern":"^a"}}}"#, #"[{"b":1}]"#),
        (#"{"propertyNames":false}"#, #"{"b":1}"#),
        (
            ##"{"items":{"$ref":"#/definitions/o"},"definitions":{"o":{"propertyNames":{"maxLength":2}}}}"##,
            #"[{"abc":1}]"#
        ),
    ]

    @Test("is neither hurt nor outwitted by", arguments: hostile.indices)
    func refuses(index: Int) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: Self.hostile[index].schema))
        let document = try JSONDocument(parsing: Self.hostile[index].document)
        #expect(schema.violations(in: document).count == 1)
        #expect(!schema.accepts(document))
    }

    struct Wrong: Sendable, CustomTestStringConvertible {
        let schema: String
        let pointer: String?
        let detail: String?

        init(_ schema: String, _ pointer: String?, _ detail: String? = nil) {
            (self.schema, self.pointer, self.detail) = (schema, pointer, detail)
        }

        var testDescription: String { String(schema.prefix(60)) }
    }

    static let wrong: [Wrong] = [
        Wrong("1", "", "A schema must be an object or a boolean."),
        Wrong(#"[{"propertyNames":{}}]"#, "", "A schema must be an object or a boolean."),
        Wrong(#"{"properties":{"a":{"type":"text"}}}"#, "/properties/a/type"),
        Wrong(#"{"type":[]}"#, "/type"), Wrong(#"{"minimum":"1"}"#, "/minimum", "This must be a number."),
        Wrong(#"{"multipleOf":0}"#, "/multipleOf"), Wrong(#"{"maxLength":-1}"#, "/maxLength"),
        Wrong(#"{"maxLength":1.5}"#, "/maxLength"), Wrong(#"{"required":"a"}"#, "/required"),
        Wrong(#"{"required":[1]}"#, "/required"), Wrong(#"{"enum":[]}"#, "/enum"),
        Wrong(#"{"properties":[]}"#, "/properties"), Wrong(#"{"items":1}"#, "/items"),
        Wrong(#"{"allOf":[]}"#, "/allOf"), Wrong(#"{"anyOf":{}}"#, "/anyOf"),
        Wrong(#"{"uniqueItems":1}"#, "/uniqueItems"), Wrong(#"{"dependencies":{"a":1}}"#, "/dependencies/a"),
        Wrong(#"{"definitions":{"a/b":{"not":1}}}"#, "/definitions/a~1b/not"),
        Wrong(#"{"pattern":"("}"#, "/pattern", "This is not a regular expression that can be used here."),
        Wrong(#"{"patternProperties":{"[":{}}}"#, "/patternProperties/["),
        Wrong("{\"pattern\":\"\(String(repeating: "a", count: 257))\"}", "/pattern"),
        Wrong(#"{"extends":{}}"#, "/extends"), Wrong(#"{"$ref":1}"#, "/$ref"),
        Wrong(##"{"$ref":"other.json"}"##, "/$ref"), Wrong(##"{"$ref":"#named"}"##, "/$ref"),
        Wrong(##"{"items":{"$ref":"#/definitions/a"}}"##, "/items/$ref"),
        Wrong(##"{"items":{"$ref":"#/items/%zz"}}"##, "/items/$ref"),
        Wrong(##"{"$ref":"#"}"##, "", "This schema refers to itself without end."),
        Wrong(##"{"allOf":[{"$ref":"#"}]}"##, nil, "This schema refers to itself without end."),
        Wrong(
            ##"{"items":{"$ref":"#/definitions/a"},"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"not":{"$ref":"#/definitions/a"}}}}"##,
            nil, "This schema refers to itself without end."
        ),
    ]

    @Test("refuses a schema that is wrong, and says where", arguments: wrong)
    func refusesSchema(_ wrong: Wrong) throws {
        let document = try JSONDocument(parsing: wrong.schema)
        let error = try #require(throws: JSONSchemaError.self) { try JSONSchema(document) }
        if let pointer = wrong.pointer { #expect(error.pointer == pointer) }
        if let detail = wrong.detail { #expect(error.detail == detail) }
    }

    @Test("names no more places than it is asked for")
    func limit() throws {
        let schema = try JSONSchema(["items": ["type": "null"]])
        let document = JSONDocument((0..<100).map { JSONDocument($0) })
        #expect(schema.violations(in: document).count == 33)
        #expect(schema.violations(in: document, limit: 5).count == 5)
        #expect(schema.violations(in: document, limit: 0).count == 1)
    }

    @Test("one schema serves many tasks at once")
    func concurrency() async throws {
        let schema = try JSONSchema(
            try JSONDocument(
                parsing: #"""
                    {"type":"object","required":["name"],"additionalProperties":{"pattern":"^[0-9]+$"},
                     "properties":{"name":{"type":"string","minLength":1,"pattern":"^[a-z]+$"}},
                     "patternProperties":{"^x-":{"$ref":"#/definitions/any"}},"definitions":{"any":{"pattern":"a|b"}}}
                    """#))
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<200 {
                        let fits = (task + round).isMultiple(of: 2)
                        let document: JSONDocument = [
                            "name": fits ? "ada" : "", "x-a": "a", "n": JSONDocument(String(round)),
                        ]
                        let violations = schema.violations(in: document)
                        if violations.isEmpty != fits || schema.accepts(document) != fits { wrong += 1 }
                    }
                    return wrong
                }
            }
            for await wrong in group { #expect(wrong == 0) }
        }
    }
}
