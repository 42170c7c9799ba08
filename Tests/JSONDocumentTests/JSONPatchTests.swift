import JSONDocument
import Testing

@Suite("JSON Patch (RFC 6902)")
struct JSONPatchTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let document: String
        let patch: String
        let result: String

        init(_ name: String, _ document: String, _ patch: String, _ result: String) {
            (self.name, self.document, self.patch, self.result) = (name, document, patch, result)
        }

        var testDescription: String { name }
    }

    static let applied = [
        Case(
            "A.1 adding an object member", #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux"}]"#,
            #"{"baz":"qux","foo":"bar"}"#),
        Case(
            "A.2 adding an array element", #"{"foo":["bar","baz"]}"#,
            #"[{"op":"add","path":"/foo/1","value":"qux"}]"#, #"{"foo":["bar","qux","baz"]}"#),
        Case(
            "A.3 removing an object member", #"{"baz":"qux","foo":"bar"}"#, #"[{"op":"remove","path":"/baz"}]"#,
            #"{"foo":"bar"}"#),
        Case(
            "A.4 removing an array element", #"{"foo":["bar","qux","baz"]}"#, #"[{"op":"remove","path":"/foo/1"}]"#,
            #"{"foo":["bar","baz"]}"#),
        Case(
            "A.5 replacing a value", #"{"baz":"qux","foo":"bar"}"#,
            #"[{"op":"replace","path":"/baz","value":"boo"}]"#, #"{"baz":"boo","foo":"bar"}"#),
        Case(
            "A.6 moving a value", #"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
            #"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
            #"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#),
        Case(
            "A.7 moving an array element", #"{"foo":["all","grass","cows","eat"]}"#,
            #"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#, #"{"foo":["all","cows","eat","grass"]}"#),
        Case(
            "A.8 testing a value, success", #"{"baz":"qux","foo":["a",2,"c"]}"#,
            #"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
            #"{"baz":"qux","foo":["a",2,"c"]}"#),
        Case(
            "A.10 adding a nested member object", #"{"foo":"bar"}"#,
            #"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
            #"{"child":{"grandchild":{}},"foo":"bar"}"#),
        Case(
            "A.11 ignoring unrecognised elements", #"{"foo":"bar"}"#,
            #"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#, #"{"baz":"qux","foo":"bar"}"#),
        Case(
            "A.14 ~ escape ordering", #"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":10}]"#,
            #"{"/":9,"~1":10}"#),
        Case(
            "A.16 adding an array value", #"{"foo":["bar"]}"#,
            #"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#, #"{"foo":["bar",["abc","def"]]}"#),
        Case("an empty patch", #"{"a":1}"#, "[]", #"{"a":1}"#),
        Case("adding over a member replaces it", #"{"a":1}"#, #"[{"op":"add","path":"/a","value":2}]"#, #"{"a":2}"#),
        Case("adding at the end by index", "[1]", #"[{"op":"add","path":"/1","value":2}]"#, "[1,2]"),
        Case("a value may be null", "{}", #"[{"op":"add","path":"/a","value":null}]"#, #"{"a":null}"#),
        Case("replacing the whole document", #"{"a":1}"#, #"[{"op":"replace","path":"","value":[1]}]"#, "[1]"),
        Case("adding the whole document", #"{"a":1}"#, #"[{"op":"add","path":"","value":7}]"#, "7"),
        Case(
            "copying the whole into itself", #"{"a":1}"#, #"[{"op":"copy","from":"","path":"/b"}]"#,
            #"{"a":1,"b":{"a":1}}"#),
        Case(
            "moving out of a part over the whole", #"{"a":{"b":1}}"#, #"[{"op":"move","from":"/a","path":""}]"#,
            #"{"b":1}"#),
        Case("moving to where it is", #"{"a":1}"#, #"[{"op":"move","from":"/a","path":"/a"}]"#, #"{"a":1}"#),
        Case(
            "copying is deep", #"{"a":[1]}"#,
            #"[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}]"#, #"{"a":[1],"b":[1,2]}"#),
        Case("numbers are tested by value", #"{"a":1}"#, #"[{"op":"test","path":"/a","value":1.0}]"#, #"{"a":1}"#),
        Case(
            "objects are tested whatever their order", #"{"a":{"x":1,"y":2}}"#,
            #"[{"op":"test","path":"/a","value":{"y":2,"x":1}}]"#, #"{"a":{"x":1,"y":2}}"#),
        Case(
            "a member may be called - or 01", "{}",
            #"[{"op":"add","path":"/-","value":1},{"op":"add","path":"/01","value":2}]"#, #"{"-":1,"01":2}"#),
        Case("a member may be called nothing", "{}", #"[{"op":"add","path":"/","value":1}]"#, #"{"":1}"#),
        Case(
            "a path may begin like another", #"{"a":1,"ab":{}}"#, #"[{"op":"move","from":"/a","path":"/ab/c"}]"#,
            #"{"ab":{"c":1}}"#),
    ]

    @Test("applies", arguments: applied)
    func applies(_ example: Case) throws {
        let document = try JSONDocument(parsing: example.document)
        let result = try document.applying(try JSONDocument(parsing: example.patch))
        #expect(result.description == example.result)
        #expect(document == (try JSONDocument(parsing: example.document)), "the original is not touched")
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let document: String
        let patch: String
        let kind: JSONPatchError.Kind
        let operation: Int?
        let pointer: String?

        init(
            _ document: String, _ patch: String, _ kind: JSONPatchError.Kind, _ operation: Int?, _ pointer: String?
        ) {
            (self.document, self.patch, self.kind) = (document, patch, kind)
            (self.operation, self.pointer) = (operation, pointer)
        }

        var testDescription: String { "\(kind): \(patch)" }
    }

    static let refused = [
        // A.9 testing a value, error
        Refusal(#"{"baz":"qux"}"#, #"[{"op":"test","path":"/baz","value":"bar"}]"#, .conflict, 0, "/baz"),
        // A.12 adding to a nonexistent target
        Refusal(#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz/bat","value":"qux"}]"#, .conflict, 0, "/baz/bat"),
        // A.15 comparing strings and numbers
        Refusal(#"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":"10"}]"#, .conflict, 0, "/~01"),
        Refusal(#"{"a":1}"#, #"[{"op":"test","path":"/a","value":true}]"#, .conflict, 0, "/a"),
        Refusal("{}", #"[{"op":"test","path":"/a","value":null}]"#, .conflict, 0, "/a"),
        Refusal("{}", #"[{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"}]"#, .conflict, 1, "/b"),
        Refusal("{}", #"[{"op":"replace","path":"/a","value":1}]"#, .conflict, 0, "/a"),
        Refusal("{}", #"[{"op":"move","from":"/a","path":"/b"}]"#, .conflict, 0, "/a"),
        Refusal("{}", #"[{"op":"move","from":"/a","path":"/a"}]"#, .conflict, 0, "/a"),
        Refusal("{}", #"[{"op":"copy","from":"/a","path":"/b"}]"#, .conflict, 0, "/a"),
        Refusal(#"{"a":1}"#, #"[{"op":"copy","from":"/a","path":"/b/c"}]"#, .conflict, 0, "/b/c"),
        Refusal("[1]", #"[{"op":"add","path":"/2","value":1}]"#, .conflict, 0, "/2"),
        Refusal(
            "[1]", #"[{"op":"add","path":"/99999999999999999999999","value":1}]"#, .conflict, 0,
            "/99999999999999999999999"),
        Refusal("[1]", #"[{"op":"add","path":"/00","value":1}]"#, .conflict, 0, "/00"),
        Refusal("[1]", #"[{"op":"add","path":"/1e0","value":1}]"#, .conflict, 0, "/1e0"),
        Refusal("[1]", #"[{"op":"add","path":"/-1","value":1}]"#, .conflict, 0, "/-1"),
        Refusal("[1]", #"[{"op":"add","path":"/","value":1}]"#, .conflict, 0, "/"),
        Refusal("[1]", #"[{"op":"remove","path":"/1"}]"#, .conflict, 0, "/1"),
        Refusal("[1]", #"[{"op":"remove","path":"/-"}]"#, .conflict, 0, "/-"),
        Refusal("[1]", #"[{"op":"replace","path":"/-","value":1}]"#, .conflict, 0, "/-"),
        Refusal("[1]", #"[{"op":"test","path":"/-","value":1}]"#, .conflict, 0, "/-"),
        Refusal("[[1]]", #"[{"op":"add","path":"/-/0","value":1}]"#, .conflict, 0, "/-/0"),
        Refusal("[1]", #"[{"op":"test","path":"/00","value":1}]"#, .conflict, 0, "/00"),
        Refusal("[1,2]", #"[{"op":"move","from":"/-","path":"/0"}]"#, .conflict, 0, "/-"),
        Refusal("[1,2]", #"[{"op":"move","from":"/0","path":"/2"}]"#, .conflict, 0, "/2"),
        Refusal(#"{"a":"text"}"#, #"[{"op":"add","path":"/a/0","value":1}]"#, .conflict, 0, "/a/0"),
        Refusal(#"{"a":1}"#, #"[{"op":"remove","path":""}]"#, .conflict, 0, ""),
        // A.13 (an invalid document with a duplicate member) is the parser's to refuse.
        Refusal("{}", "{}", .malformed, nil, nil),
        Refusal("{}", "[1]", .malformed, 0, nil),
        Refusal("{}", #"[{"path":"/a"}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":1,"path":"/a"}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":"put","path":"/a","value":1}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":"Add","path":"/a","value":1}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":"add","value":1}]"#, .malformed, 0, nil),
        Refusal("{}", #"[{"op":"add","path":["a"],"value":1}]"#, .malformed, 0, nil),
        Refusal("{}", #"[{"op":"add","path":"a","value":1}]"#, .malformed, 0, "a"),
        Refusal("{}", #"[{"op":"add","path":"/a~","value":1}]"#, .malformed, 0, "/a~"),
        Refusal("{}", #"[{"op":"add","path":"/a~2","value":1}]"#, .malformed, 0, "/a~2"),
        Refusal("{}", #"[{"op":"add","path":"/a"}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":"replace","path":"/a"}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":"test","path":"/a"}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":"move","path":"/a"}]"#, .malformed, 0, "/a"),
        Refusal("{}", #"[{"op":"copy","from":"x","path":"/a"}]"#, .malformed, 0, "x"),
        Refusal(#"{"a":{}}"#, #"[{"op":"move","from":"/a","path":"/a/b"}]"#, .malformed, 0, "/a/b"),
        Refusal("{}", #"[{"op":"move","from":"","path":"/b"}]"#, .malformed, 0, "/b"),
        // Malformed comes first, whatever an earlier operation would have met.
        Refusal("{}", #"[{"op":"remove","path":"/no"},{"op":"nonsense","path":"/a"}]"#, .malformed, 1, "/a"),
    ]

    @Test("refuses, and says which operation and where", arguments: refused)
    func refuses(_ refusal: Refusal) throws {
        let document = try JSONDocument(parsing: refusal.document)
        let patch = try JSONDocument(parsing: refusal.patch)
        let error = #expect(throws: JSONPatchError.self) { try document.applying(patch) }
        #expect(error?.kind == refusal.kind)
        #expect(error?.operation == refusal.operation)
        #expect(error?.pointer == refusal.pointer)
    }

    @Test("copying that doubles a value again and again is stopped")
    func bomb() throws {
        let operations = JSONDocument(Array(repeating: ["op": "copy", "from": "/a", "path": "/a/-"], count: 60))
        let document: JSONDocument = ["a": ["sixteen characters"]]
        let error = #expect(throws: JSONPatchError.self) { try document.applying(operations) }
        #expect(error?.kind == .tooLarge)
        let wide = JSONDocument(
            (0..<60).map { ["op": "copy", "from": "", "path": JSONDocument("/\($0)")] as JSONDocument })
        #expect(throws: JSONPatchError.self) { try JSONDocument.emptyObject.applying(wide, maximumSize: 100_000) }
    }

    @Test("a result of 64 levels is made, of 65 refused", arguments: ["add", "replace", "copy", "move"])
    func depth(operation: String) throws {
        func nested(_ levels: Int) -> JSONDocument {
            (1..<levels).reduce([]) { inner, _ in [inner] }
        }
        func applied(_ levels: Int) throws -> JSONDocument {
            let document: JSONDocument = ["here": nested(levels), "there": ["x": 1]]
            let patch: JSONDocument = [
                ["op": JSONDocument(operation), "from": "/here", "path": "/there/x", "value": nested(levels)]
            ]
            return try document.applying(patch)
        }
        #expect(try applied(62).depth == 64)
        let error = #expect(throws: JSONPatchError.self) { try applied(63) }
        #expect(error?.kind == .tooDeep)
        #expect(error?.detail == "The result would be nested more than 64 levels deep.")
        #expect(error?.pointer == "/there/x")
    }

    @Test("shifting many members for ever is stopped, and some changes among them are not")
    func shiftingMembers() throws {
        let document = JSONDocument(members: (10_000..<14_000).map { (name: "n\($0)", value: .null) })
        func patch(_ count: Int) -> JSONDocument {
            JSONDocument((0..<count).map { ["op": "add", "path": JSONDocument("/a\($0)"), "value": 1] })
        }
        #expect(try document.applying(patch(100)).count == 4_100)
        let error = #expect(throws: JSONPatchError.self) { try document.applying(patch(1_000)) }
        #expect(error?.kind == .tooLarge)
    }

    @Test("shifting a long array for ever is stopped")
    func shifting() throws {
        let long = JSONDocument(Array(repeating: JSONDocument.null, count: 10_000))
        let patch = JSONDocument(Array(repeating: ["op": "add", "path": "/0", "value": 1], count: 1_000))
        let error = #expect(throws: JSONPatchError.self) { try long.applying(patch) }
        #expect(error?.kind == .tooLarge)
    }

    @Test("moving a large value down and up for ever is stopped, and from one place to another is not")
    func moving() throws {
        let document: JSONDocument = [
            "a": ["x": JSONDocument(Array(repeating: JSONDocument.null, count: 10_000))], "b": ["c": [:]],
        ]
        func patch(_ there: JSONDocument) -> JSONDocument {
            let moves: [JSONDocument] = [
                ["op": "move", "from": "/a/x", "path": there], ["op": "move", "from": there, "path": "/a/x"],
            ]
            return JSONDocument((0..<250).flatMap { _ in moves })
        }
        #expect(try document.applying(patch("/b/x")) == document)
        let error = #expect(throws: JSONPatchError.self) { try document.applying(patch("/b/c/x")) }
        #expect(error?.kind == .tooLarge)
    }

    @Test("an error is a sentence with a place")
    func description() throws {
        let patch: JSONDocument = [["op": "remove", "path": "/a"]]
        let error = #expect(throws: JSONPatchError.self) { try JSONDocument.emptyObject.applying(patch) }
        #expect(error?.description == #"Operation 0 ("/a"): There is nothing at "path"."#)
    }
}
