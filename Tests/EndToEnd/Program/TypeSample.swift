import JSONDocument

/// A schema, and values that it allows, for the tests of `concierge types`.
struct TypeSample {
    var schema: JSONDocument
    var values: [JSONDocument]

    private static let text: JSONDocument = ["type": "string"]

    static func object(
        _ properties: [(name: String, value: JSONDocument)], required: [String] = [], closed: Bool = true,
        _ others: [(name: String, value: JSONDocument)] = []
    ) -> JSONDocument {
        JSONDocument(
            members: [
                ("type", "object"), ("properties", JSONDocument(members: properties)),
                ("required", JSONDocument(required.map { JSONDocument($0) })),
            ] + (closed ? [("additionalProperties", false)] : []) + others)
    }

    /// Names that are keywords, have characters that no name may have, or that the generated code needs for itself.
    private static let names = [
        "class", "default", "self", "Self", "init", "Type", "Protocol", "none", "some", "rawValue", "allCases",
        "hashValue", "stringValue", "intValue", "description", "encode", "hash", "event", "CodingKeys", "container",
        "encoder", "a-b", "a_b", "a b", "A", "a", "3d", "größe", "", "$x", "\"q\"", "back\\slash", "line\nbreak",
        "\\(x)",
        "await", "any", "String", "\u{2028}", "日本",
    ]

    static let all: [TypeSample] = [
        TypeSample(
            schema: object(names.map { ($0, text) }, required: names),
            values: [JSONDocument(members: names.map { ($0, JSONDocument($0)) })]),
        TypeSample(
            schema: ["enum": JSONDocument(names.map { JSONDocument($0) })], values: names.map { JSONDocument($0) }),
        // Null that must be there, and what may be left out.
        TypeSample(
            schema: object(
                [("must", ["type": ["string", "null"]]), ("may", ["type": "integer"]), ("any", true)],
                required: ["must", "any"]),
            values: [["must": nil, "any": nil], ["must": "x", "any": [1, "x"], "may": 1]]),
        TypeSample(
            schema: object(
                [("kind", ["enum": [nil, "a", "b"]]), ("is", ["enum": [true]]), ("of", ["enum": [1, 2]])],
                required: ["kind"]),
            values: [["kind": nil, "is": true, "of": 2], ["kind": "b"]]),
        // A list of lists, of texts or null, of anything, of each its own.
        TypeSample(
            schema: object([
                ("deep", ["type": "array", "items": ["type": "array", "items": ["type": ["string", "null"]]]]),
                ("any", ["type": "array"]),
                ("each", ["type": "array", "items": [["type": "string"], ["type": "integer"]]]),
            ]),
            values: [["deep": [["a", nil], []], "any": [1, nil, "x"], "each": ["x", 1, true]]]),
        // Maps.
        TypeSample(
            schema: ["type": "object", "additionalProperties": ["type": "integer"]],
            values: [[:], ["a-b": 1, "class": 2]]),
        TypeSample(
            schema: [
                "type": "object", "patternProperties": ["^a": ["type": "number"]],
                "additionalProperties": ["type": "null"],
            ],
            values: [["a": 1.5, "b": nil]]),
        TypeSample(schema: object([]), values: [[:]]),
        // Open objects.
        TypeSample(
            schema: object([("a", text)], required: ["a", "b"], closed: false),
            values: [["a": "x", "b": [1]], ["a": "x", "b": nil, "c": true, "others": ["d": 1.5]]]),
        // Within each other, in a list, with names that the code for them needs, and with null that must be there.
        TypeSample(
            schema: object(
                [
                    ("others", text), ("container", ["enum": ["x", "y"]]), ("class", ["type": ["string", "null"]]),
                    (
                        "lines",
                        [
                            "type": "array",
                            "items": object([("a-b", ["enum": ["z"]]), ("of", ["$ref": "#"])], closed: false),
                        ]
                    ),
                ], required: ["class", "container"], closed: false),
            values: [
                [
                    "others": "o", "container": "y", "class": nil, "x": [1],
                    "lines": [["a-b": "z", "c": 1], ["d": nil, "of": ["container": "x", "class": "k", "e": true]]],
                ]
            ]),
        // What is one of several.
        TypeSample(schema: ["type": ["string", "integer", "null"]], values: ["x", 1, nil]),
        TypeSample(
            schema: [
                "oneOf": [
                    object([("kind", ["const": "a"]), ("x", text)], required: ["kind"]),
                    object([("kind", ["const": "b"]), ("y", ["type": "boolean"])], required: ["kind"]),
                ]
            ],
            values: [["kind": "a", "x": "1"], ["kind": "b", "y": true]]),
        TypeSample(
            schema: ["anyOf": [["type": "null"], object([("x", text)])]], values: [nil, ["x": "1"], [:]]),
        TypeSample(schema: ["enum": ["a", 1, nil, [1]]], values: ["a", 1, nil, [1]]),
        TypeSample(schema: ["enum": ["a", 1, nil]], values: ["a", 1, nil]),
        TypeSample(schema: ["enum": [1.5, 2]], values: [1.5, 2]),
        TypeSample(schema: ["const": nil], values: [nil]),
        TypeSample(
            schema: ["type": "string", "enum": JSONDocument((0..<200).map { JSONDocument("v\($0)") })],
            values: ["v0", "v199"]),
        // No type: a schema of members says nothing of a number.
        TypeSample(schema: ["properties": ["a": ["type": "string"]]], values: [7, ["a": "x"]]),
        TypeSample(schema: true, values: [nil, 1]),
        TypeSample(schema: ["not": ["type": "string"]], values: [1]),
        TypeSample(
            schema: ["allOf": [true, object([("a", text)], closed: false)]], values: [["a": "x"], ["b": 1]]),
        // Names and texts that Swift takes for one, and of which one alone is required.
        TypeSample(
            schema: object([("\u{e9}", text), ("e\u{301}", text)], required: ["e\u{301}"]),
            values: [["e\u{301}": "x"], ["\u{e9}": "x", "e\u{301}": "y"]]),
        TypeSample(schema: ["enum": ["\u{e9}", "e\u{301}"]], values: ["\u{e9}", "e\u{301}"]),
        // Whole numbers, however they are written.
        TypeSample(schema: ["type": "integer"], values: [1, 1.0, -9_223_372_036_854_775_808]),
        TypeSample(schema: ["type": "number"], values: [1, 1.5]),
        // References: shared, in a circle through a list, a map and a member, to the whole, by a name.
        TypeSample(
            schema: object(
                [
                    ("from", ["$ref": "#/definitions/a-b"]), ("to", ["$ref": "#/definitions/a-b"]),
                    ("list", ["$ref": "#/definitions/list"]),
                ],
                [
                    (
                        "definitions",
                        [
                            "a-b": object([("street", text)], required: ["street"]),
                            "list": ["type": "array", "items": ["$ref": "#/definitions/list"]],
                        ]
                    )
                ]),
            values: [["from": ["street": "x"], "to": ["street": "y"], "list": [[], [[]]]]]),
        TypeSample(
            schema: object([
                ("name", text), ("children", ["type": "array", "items": ["$ref": "#"]]),
                ("parent", ["$ref": "#"]), ("by", ["type": "object", "additionalProperties": ["$ref": "#"]]),
            ]),
            values: [
                ["name": "x", "children": [["name": "y", "children": []]], "parent": ["name": "z"], "by": ["a": [:]]]
            ]),
        TypeSample(
            schema: object(
                [("one", ["$ref": "#/definitions/one"])],
                [
                    (
                        "definitions",
                        [
                            "one": object([("two", ["$ref": "#/definitions/two"])]),
                            "two": object([("one", ["anyOf": [["$ref": "#/definitions/one"], ["type": "null"]]])]),
                        ]
                    )
                ]),
            values: [["one": ["two": ["one": ["two": [:]]]]], ["one": ["two": ["one": nil]]]]),
        TypeSample(
            schema: object(
                [("a", ["$ref": "#named"]), ("b", ["$ref": "#/definitions/a%20b"])],
                [("definitions", ["x": ["$id": "#named", "type": "string"], "a b": ["type": "integer"]])]),
            values: [["a": "x", "b": 1]]),
        // A reference is the whole, or is below a part with a base of its own.
        TypeSample(
            schema: ["$ref": "#/definitions/a", "definitions": ["a": object([("b", text)])]], values: [["b": "x"], [:]]),
        TypeSample(
            schema: object(
                [("a", ["$ref": "#/definitions/based/definitions/inner"])],
                [
                    (
                        "definitions",
                        [
                            "based": [
                                "$id": "http://example.org/based",
                                "definitions": ["inner": ["$ref": "#/definitions/text"], "text": ["type": "string"]],
                            ], "text": ["type": "integer"],
                        ]
                    )
                ]),
            values: [["a": "x"]]),
    ]
}
