import JSONDocument
import Testing

@testable import FlowTools
@testable import Navigation

@Suite("Sample data")
struct SampleDataTests {
    @Test(
        "samples fit their schema, the simplest first",
        arguments: [
            (["type": "object"], .emptyObject), (["const": 7], 7), (["enum": ["a", "b"]], "a"),
            (["type": "string", "minLength": 3], "xxx"), (["type": "integer", "minimum": 5], 5),
            (["type": "number", "exclusiveMaximum": 0], -1), (["type": "array", "minItems": 2], [true, true]),
            (["type": "integer", "multipleOf": 4, "minimum": 3], 4), (["default": "d", "type": "string"], "d"),
            (
                ["type": "object", "required": ["a"], "properties": ["a": ["type": "object", "required": ["b"]]]],
                ["a": ["b": "x"]]
            ),
        ] as [(JSONDocument, JSONDocument)])
    func samples(schema: JSONDocument, first: JSONDocument) throws {
        let samples = SampleData.samples(of: ShapeRule(schema: try JSONSchema(schema)))
        #expect(samples.first == first)
    }

    @Test(
        "a text is found for a pattern",
        arguments: [
            "^[0-9]{4}$", "^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$", #"^\d{4}-\d{2}-\d{2}$"#, "^(Mr|Mrs|Ms) [A-Z][a-z]+$",
            #"^[^@\s]+@[^@\s]+\.[a-z]{2,}$"#, "^([1-9]|[12][0-9])[A-F]$", "^(?:ab)+c?$", "^upl_[0-9a-f]{8}$",
            #"^\+?[0-9 ()-]{6,20}$"#, "^(?=.*[0-9])[a-z0-9]+$", "^[^a-z]$", "[0-9]", "^x{2,}?$", "^$",
            #"^[\w.-]+/[\w.-]+$"#, "^(((a{20}){20}){20}){1}|b$",
        ])
    func patterns(pattern: String) throws {
        let schema: JSONDocument = ["type": "string", "pattern": JSONDocument(pattern)]
        #expect(!SampleData.samples(of: ShapeRule(schema: try JSONSchema(schema))).isEmpty)
    }

    @Test("what is not closed, or not known, is no text", arguments: ["(", "[", "a{2", "a)", "\\", "a{x}", "(?<n"])
    func badPatterns(pattern: String) { #expect(PatternSample.texts(for: pattern).allSatisfy { $0.count < 5 }) }

    @Test(
        "schemas within schemas are followed",
        arguments: [
            ["allOf": [["type": "object", "required": ["a"]], ["properties": ["a": ["const": 7]]]]],
            ["oneOf": [["type": "string", "pattern": "^[0-9]{5}$"], ["type": "integer", "minimum": 9]]],
            [
                "type": "object", "required": ["kind"], "properties": ["kind": ["enum": ["a", "b"]]],
                "if": ["properties": ["kind": ["const": "b"]]], "then": ["required": ["more"]],
            ],
            ["definitions": ["x": ["type": "string", "minLength": 3]], "$ref": "#/definitions/x"],
            ["type": "array", "contains": ["const": 4]],
            ["type": "array", "minItems": 2, "uniqueItems": true, "items": ["enum": [1, 2, 3]]],
            ["type": "array", "items": [["const": 1], ["const": 2]], "minItems": 2],
            ["type": "number", "exclusiveMinimum": 0, "maximum": 0.5],
        ] as [JSONDocument])
    func compositions(schema: JSONDocument) throws {
        let rule = ShapeRule(schema: try JSONSchema(schema))
        let samples = SampleData.samples(of: rule)
        #expect(!samples.isEmpty)
        #expect(samples.allSatisfy(rule.accepts))
    }

    @Test("wishes are in the data: values, lengths, elements, what is there and what is not")
    func wishes() throws {
        let schema: JSONDocument = [
            "type": "object", "required": ["kind"],
            "properties": [
                "kind": ["enum": ["a", "b", "c"]], "note": ["type": ["string", "null"]],
                "items": ["type": "array", "items": ["type": "object", "properties": ["price": ["type": "number"]]]],
            ],
        ]
        func wish(_ tokens: [String], _ wanted: Wish.Wanted) -> Wish {
            Wish(root: .event, tokens: tokens, wanted: wanted)
        }
        let samples = SampleData.samples(
            of: ShapeRule(schema: try JSONSchema(schema)),
            wishes: [
                [wish(["kind"], .value("c")), wish(["note"], .present)], [wish(["items", "1", "price"], .value(5))],
                [wish(["items"], .count(3))], [wish(["kind"], .misfits(["enum": ["a", "c"]]))],
                [wish(["kind"], .absent)],
            ])
        #expect(samples.contains(["kind": "c", "note": "x"]))
        #expect(samples.contains { $0[member: "items"]?[1]?[member: "price"] == 5 })
        #expect(samples.contains { $0[member: "items"]?.count == 3 })
        #expect(samples.contains { $0[member: "kind"] == "b" })
        #expect(samples.allSatisfy { $0[member: "kind"] != nil })
    }
}
