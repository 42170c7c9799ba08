import JSONDocument
import Testing

@Suite("JSON Pointer (RFC 6901)")
struct JSONPointerTests {
    static let document = #"""
        {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}
        """#

    @Test(
        "the examples of section 5",
        arguments: [
            ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"),
            ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
        ])
    func section5(text: String, value: String) throws {
        let pointer = try #require(JSONPointer(parsing: text))
        #expect(pointer.description == text)
        #expect(try JSONDocument(parsing: Self.document).value(at: pointer)?.description == value)
    }

    @Test("the empty pointer is the whole document")
    func root() throws {
        let document = try JSONDocument(parsing: Self.document)
        #expect(document.value(at: try #require(JSONPointer(parsing: ""))) == document)
        #expect(JSONPointer.root.description.isEmpty)
    }

    @Test("is not a pointer", arguments: ["foo", "foo/bar", "/~", "/a~2", "/~/", "#/a", " /a"])
    func malformed(text: String) {
        #expect(JSONPointer(parsing: text) == nil)
    }

    @Test(
        "points to nothing",
        arguments: [
            "/no", "/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/foo/1e0", "/foo/", "/foo/0/0",
            "/foo/99999999999999999999",
        ])
    func absent(text: String) throws {
        let pointer = try #require(JSONPointer(parsing: text))
        #expect(try JSONDocument(parsing: Self.document).value(at: pointer) == nil)
    }

    @Test("escapes what it is given, and reads it back", arguments: ["", "a", "/", "~", "~1", "~01", "a/b~c", "é/😀"])
    func escaping(token: String) {
        let pointer = JSONPointer.root.appending("errors").appending(0).appending(token)
        #expect(JSONPointer(parsing: pointer.description)?.tokens == ["errors", "0", token])
        #expect(pointer.description == "/errors/0/" + JSONPointer.escape(token))
    }
}
