import JSONDocument
import Testing

@Suite("Patterns of schemas")
struct SchemaPatternTests {
    private func violations(_ schema: String, _ document: JSONDocument) throws -> [String] {
        try JSONSchema(try JSONDocument(parsing: schema)).violations(in: document).map(\.description)
    }

    /// Going through all ways to match 40 of these takes days: that the test ends is what it tests.
    private static func trap(_ count: Int) -> String { String(repeating: "a", count: count) + "!" }

    @Test("a text that is made to take long is given up on, and does not fit", arguments: [40, 1_000, 60_000])
    func givesUp(count: Int) throws {
        let schema = try JSONSchema(["pattern": "^(a+)+$"])
        let document = JSONDocument(Self.trap(count))
        #expect(!schema.accepts(document))
        #expect(
            schema.violations(in: document).map(\.description)
                == ["The document cannot be checked against the pattern ^(a+)+$"])
    }

    @Test(
        "so is one that takes long at each place where a match may begin",
        arguments: ["a*[bc]", "(a|aa)+[bc]", "(.*,){12}[bc]", "(?=(a*)*b)c?[xy]"])
    func givesUpEverywhere(pattern: String) throws {
        let schema = try JSONSchema(["pattern": JSONDocument(pattern)])
        #expect(!schema.accepts(JSONDocument(String(repeating: "a,", count: 30_000))))
        #expect(!schema.accepts(JSONDocument(Self.trap(500_000))))
    }

    @Test("all texts of a document share what there is to spend")
    func sharesWork() throws {
        let schema = try JSONSchema(["items": ["pattern": "^(a+)+$"]])
        let document = JSONDocument([JSONDocument](repeating: JSONDocument(Self.trap(40)), count: 10_000))
        #expect(!schema.accepts(document))
        #expect(schema.violations(in: document).count == 33)
    }

    @Test("names of members are as dangerous as texts, and as safe")
    func names() throws {
        let document = JSONDocument(members: [(name: Self.trap(50), value: .null)])
        for schema in [#"{"patternProperties":{"^(a+)+$":{}}}"#, #"{"propertyNames":{"pattern":"^(a+)+$"}}"#] {
            #expect(try violations(schema, document).count == 1)
            #expect(try !JSONSchema(try JSONDocument(parsing: schema)).accepts(document))
        }
    }

    @Test("what cannot be checked is no reason to accept what must not match")
    func negation() throws {
        let document = JSONDocument(Self.trap(60))
        #expect(
            try violations(#"{"not":{"pattern":"^(a+)+$"}}"#, document)
                == ["The document cannot be checked against the schema"])
        #expect(try !JSONSchema(["not": ["pattern": "^(a+)+$"]]).accepts(document))
    }

    @Test(
        "long texts and names are no trouble for patterns that are none",
        arguments: [
            #"{"pattern":"^[a-z]+$"}"#, #"{"pattern":"^([a-z]{2})+$"}"#, #"{"pattern":"a$"}"#,
            #"{"additionalProperties":{"pattern":"^(aa|bb)*$"}}"#,
        ])
    func long(schema: String) throws {
        let text = String(repeating: "a", count: 100_000)
        #expect(try violations(schema, JSONDocument(text)) == [])
        #expect(try violations(schema, ["x": JSONDocument(text)]) == [])
        let names = #"{"additionalProperties":false,"patternProperties":{"^a+$":{"type":"null"}}}"#
        #expect(try violations(names, JSONDocument(members: [(name: text, value: nil)])) == [])
        #expect(try violations(names, JSONDocument(members: [(name: "b" + text, value: nil)])).count == 1)
    }

    static let meanings: [(pattern: String, matching: [String], others: [String])] = [
        ("^.$", ["a", "é", "😀"], ["ab", "\n", "\r"]),
        ("^a$", ["a"], ["a\n", "\na"]),
        (#"^\u00e9\x41$"#, ["éA"], ["u00e9x41"]),
        (#"^\u{1F600}$"#, ["😀"], ["u{1F600}"]),
        (#"^\d+$"#, ["09"], ["٣"]),
        (#"^\w+$"#, ["a_1"], ["é"]),
        ("^[^]$", ["\n", "é"], [""]),
        ("[]", [], ["", "a"]),
        ("^(?!no).+$", ["yes"], ["no", "none"]),
        (#"^(['"]).*\1$"#, ["'a'", "\"\""], ["'a\""]),
        ("^(a)?b\\1$", ["b", "aba"], ["ab"]),
        ("^[а-я]+$", ["где"], ["gde"]),
        ("^a{,2}$", ["a{,2}"], ["a"]),
        ("b", ["abc", "b"], ["ac"]),
        ("^a\\u0000b$", ["a\u{0}b"], ["ab"]),
        (#"^\s$"#, [" ", "\t", "\u{B}", "\u{A0}", "\u{FEFF}", "\u{2028}", "\u{3000}"], ["a", "\u{85}", "\u{200B}"]),
        (#"^[\s0]+$"#, ["0\u{A0}0"], ["1"]),
        (#"^[^\S0]+$"#, [" \u{FEFF}"], ["0", "a"]),
        (#"^\S$"#, ["a", "\u{85}", "😀"], [" ", "\u{A0}", "\u{FEFF}"]),
        ("^.$", ["\u{85}", "\u{B}"], ["\u{2028}", "\u{2029}"]),
        ("^[.]$", ["."], ["a"]),
        (#"^\p{Letter}+$"#, ["aé"], ["1"]),
        (#"^\p{gc=Decimal_Number}\P{Lu}[\p{digit}x]$"#, ["1a2", "٣ax"], ["1A2", "1ab"]),
        (#"^\p{Script=Greek}$"#, ["α"], ["a"]),
        (#"^[[a]$"#, ["[", "a"], ["b"]),
        (#"^\[\.\]$"#, ["[.]"], ["[a]", "."]),
    ]

    @Test("mean what they mean in ECMAScript, and see characters", arguments: meanings.indices)
    func meaning(index: Int) throws {
        let (pattern, matching, others) = Self.meanings[index]
        let schema = try JSONSchema(["pattern": JSONDocument(pattern)])
        let name = try JSONSchema(["propertyNames": ["pattern": JSONDocument(pattern)]])
        for text in matching + others {
            #expect(schema.accepts(JSONDocument(text)) == matching.contains(text), "\(text)")
            #expect(schema.violations(in: JSONDocument(text)).isEmpty == matching.contains(text), "\(text)")
            #expect(
                name.accepts(JSONDocument(members: [(name: text, value: .null)])) == matching.contains(text), "\(text)")
        }
    }

    @Test(
        "hold wherever they stand",
        arguments: [
            (##"{"items":{"anyOf":[{"pattern":"^a"},{"type":"null"}]}}"##, #"["b"]"#, #"["a",null]"#),
            (
                ##"{"properties":{"k":{"$ref":"#/definitions/p"}},"definitions":{"p":{"pattern":"^a"}}}"##,
                #"{"k":"b"}"#, #"{"k":"a"}"#
            ),
            (
                ##"{"items":{"patternProperties":{"^a":{"patternProperties":{"^b":{"type":"null"}}}}}}"##,
                #"[{"a1":{"b1":1}}]"#, #"[{"a1":{"b1":null,"c":1},"b":1}]"#
            ),
            (##"{"if":{"pattern":"^a"},"then":{"minLength":2},"else":{"maxLength":1}}"##, #""a""#, #""b""#),
            (
                ##"{"additionalProperties":false,"properties":{"b":{}},"patternProperties":{"^[ac]$":{}}}"##,
                #"{"a":1,"b":1,"c":1,"d":1}"#, #"{"a":1,"b":1,"c":1}"#
            ),
            (
                ##"{"properties":{"ab":{"type":"string"}},"patternProperties":{"^a":{"minLength":2}}}"##,
                #"{"ab":"x"}"#, #"{"ab":"xy"}"#
            ),
        ])
    func everywhere(schema: String, refused: String, accepted: String) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: schema))
        #expect(!schema.accepts(try JSONDocument(parsing: refused)))
        #expect(schema.accepts(try JSONDocument(parsing: accepted)))
    }

    @Test(
        "names and patterns with slashes, tildes and U+0000 in them are like others",
        arguments: [
            (#"{"properties":{"a\u0000b":{"type":"null"}}}"#, #"{"a\u0000b":1}"#, #"{"a\u0000c":1,"a":1}"#),
            (#"{"required":["a\u0000b"]}"#, #"{"a":1}"#, #"{"a\u0000b":1}"#),
            (#"{"pattern":"^a\u0000b$"}"#, #""a""#, #""a\u0000b""#),
            (#"{"patternProperties":{"^a\u0000b$":{"type":"null"}}}"#, #"{"a\u0000b":1}"#, #"{"a":1}"#),
            (#"{"dependencies":{"a\u0000b":["c"]}}"#, #"{"a\u0000b":1}"#, #"{"a":1}"#),
            (
                #"{"properties":{"a/b":{"properties":{"c":{"type":"null"}}},"a":{"properties":{"b/c":{"type":"string"}}}}}"#,
                #"{"a":{"b/c":null},"a/b":{"c":null}}"#, #"{"a":{"b/c":""},"a/b":{"c":null}}"#
            ),
            (
                ##"{"items":{"$ref":"#/definitions/a~1b"},"definitions":{"a/b":{"type":"null"},"a~1b":{}}}"##, "[1]",
                "[null]"
            ),
        ])
    func anyNames(schema: String, refused: String, accepted: String) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: schema))
        #expect(schema.violations(in: try JSONDocument(parsing: refused)).count == 1)
        #expect(schema.violations(in: try JSONDocument(parsing: accepted)).isEmpty)
    }
}
