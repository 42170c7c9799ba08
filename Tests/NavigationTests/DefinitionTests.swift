import Navigation
import Testing

@Suite("Definitions")
struct DefinitionTests {
    @Test(
        "a data path begins with what it is a path in",
        arguments: [
            ("/profile/name", .service("profile"), "/name"), ("/event", .event, ""), ("/input/a~1b", .input, "/a~1b"),
            ("/output/0", .output, "/0"), ("/result", .result, ""), ("/now", .now, ""),
        ] as [(String, DataPath.Root, String)])
    func paths(text: String, root: DataPath.Root, rest: String) {
        #expect(DataPath(text)?.root == root)
        #expect(DataPath(text)?.pointer.description == rest)
    }

    @Test("what is no pointer, or points at everything, is no data path", arguments: ["", "profile", "/a~2"])
    func noPaths(text: String) {
        #expect(DataPath(text) == nil)
    }
}
