import JSONDocument
import Testing

@Suite("JSON Schema: formats that are asserted")
struct SchemaFormatTests {
    static let texts: [(format: String, good: [String], bad: [String])] = [
        (
            "date-time", ["2026-01-31T23:59:59Z", "2024-02-29t00:00:00.123456z", "1990-12-31T15:59:60-08:00"],
            [
                "2026-01-31", "2026-01-31 23:59:59Z", "2026-01-31T23:59:59", "2025-02-29T00:00:00Z",
                "2026-01-31T24:00:00Z",
                "2026-01-31T12:00:60Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00+24:00", "2026-01-31T12:00:00Z ",
            ]
        ),
        (
            "date", ["2026-01-31", "2000-02-29"],
            ["1900-02-29", "2026-1-31", "2026-13-01", "2026-00-10", "2026-04-31", ""]
        ),
        (
            "time", ["00:00:00Z", "23:59:60Z", "12:30:00.5+05:30"],
            ["12:30:00", "24:00:00Z", "12:30Z", "22:59:60Z", "1２:30:00Z"]
        ),
        (
            "email", ["ada@example.com", #""a b"@example.com"#, "a+b.c@[127.0.0.1]", "a@[IPv6:::1]", "a@localhost"],
            [
                "ada", "@example.com", "a@", ".a@b.c", "a..b@c", "a@-b.c", "a@b..c", "a b@c", "a@[300.0.0.1]", "a@b@c",
                "é@b",
            ]
        ),
        (
            "uri",
            ["https://a.example/b?c=d#e", "urn:a:b", "mailto:ada@example.com", "http://[::1]:80/", "file:///a", "a:"],
            [
                "/a", "a", "https://a b", "https://[::g]/", "http://[::1", "a:%zz", "1a:b", "http://a/é", "a:b#c#d",
                "\\\\a\\b",
            ]
        ),
        (
            "uuid", ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
            [
                "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}",
                "123e4567-e89b-12d3-a456-42661417400g",
            ]
        ),
        ("ipv4", ["127.0.0.1", "0.0.0.0"], ["127.0.0", "127.0.0.256", "127.0.0.01", "1.2.3.4\u{0}", "::1"]),
        (
            "ipv6", ["::1", "2001:db8::1", "::ffff:1.2.3.4"],
            ["127.0.0.1", "1::2::3", "12345::", "::1\u{0}", "fe80::1%eth0", "[::1]"]
        ),
    ]

    @Test("take what their RFCs take, and nothing else", arguments: texts.indices)
    func asserted(index: Int) throws {
        let (format, good, bad) = Self.texts[index]
        let schema = try JSONSchema(["format": JSONDocument(format)])
        #expect(schema.warnings.isEmpty)
        for text in good { #expect(schema.accepts(JSONDocument(text)), "\(text)") }
        for text in bad { #expect(!schema.accepts(JSONDocument(text)), "\(text)") }
        #expect(schema.accepts(1), "only strings have formats")
    }

    @Test("a long text takes no longer than it has to", arguments: ["email", "uri", "date-time", "uuid", "ipv6"])
    func long(format: String) throws {
        let schema = try JSONSchema(["format": JSONDocument(format)])
        #expect(!schema.accepts(JSONDocument(String(repeating: "a.", count: 200_000) + "!\n")))
    }
}

@Suite("JSON Schema: warnings")
struct SchemaWarningTests {
    @Test(
        "name what a schema does not mean",
        arguments: [
            (
                #"{"minlength":1}"#,
                #"/minlength unknown_keyword: "minlength" is not a keyword of draft 7 and is ignored; did you mean minLength?"#
            ),
            (
                #"{"items":[{"qqq":1}]}"#,
                #"/items/0/qqq unknown_keyword: "qqq" is not a keyword of draft 7 and is ignored"#
            ),
            (#"{"$defs":{}}"#, "/$defs other_draft: $defs is a keyword of a later draft and has no effect in draft 7"),
            (
                #"{"not":{"dependentRequired":{}}}"#,
                "/not/dependentRequired other_draft: dependentRequired is a keyword of a later draft and has no effect in draft 7"
            ),
            (#"{"id":"a"}"#, "/id other_draft: id is a keyword of draft 4 and has no effect; draft 7 has $id"),
            (
                #"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#,
                #"/$schema other_draft: $schema "https://json-schema.org/draft/2020-12/schema" is not draft 7 (http://json-schema.org/draft-07/schema#), which is in force here"#
            ),
            (
                #"{"format":"hostname"}"#,
                #"/format without_effect: format "hostname" is not checked; the formats that are checked are date-time, date, time, email, uri, uuid, ipv4, ipv6"#
            ),
            (#"{"contentEncoding":"base64"}"#, "/contentEncoding without_effect: contentEncoding is not checked"),
            (
                ##"{"properties":{"a":{"$ref":"#","minLength":1,"title":"A"}}}"##,
                "/properties/a/minLength without_effect: minLength has no effect beside $ref"
            ),
            (#"{"then":{}}"#, "/then without_effect: then has no effect without if"),
            (#"{"if":{}}"#, "/if without_effect: if has no effect without then or else"),
            (
                #"{"additionalItems":{}}"#,
                "/additionalItems without_effect: additionalItems has no effect unless items is an array"
            ),
        ])
    func warned(schema: String, warning: String) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: schema))
        #expect(schema.warnings.map { "\($0.pointer) \($0.kind.rawValue): \($0.detail)" } == [warning])
    }

    @Test("are about nothing that draft 7 has, nor about what stands where no schema is")
    func silent() throws {
        let text = ##"""
            {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://a.example/","$comment":"","title":"",
             "description":"","default":1,"examples":[{"minlength":1}],"readOnly":true,"writeOnly":false,"x-say":"a",
             "properties":{"minlength":{"const":{"minlength":1}}},"enum":[{"minlength":1}],"if":{},"then":{},"else":{},
             "items":[{}],"additionalItems":{},"definitions":{"minlength":{"$ref":"#"}}}
            """##
        #expect(try JSONSchema(try JSONDocument(parsing: text)).warnings.isEmpty)
        #expect(try JSONSchema(true).warnings.isEmpty)
    }
}
