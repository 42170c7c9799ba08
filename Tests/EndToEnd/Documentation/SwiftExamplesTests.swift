import Support
import Testing

@Suite("The Swift examples of the pages about libraries")
struct SwiftExamplesTests {
    static let pages = [
        ("docs/service-locator.md", "Tests/ServiceLocatorTests"), ("docs/http-server.md", "Tests/HTTPServerTests"),
        ("docs/navigation.md", "Tests/NavigationTests"), ("docs/swift-client.md", "Tests/ConciergeClientTests"),
    ]

    @Test("are compiled and run, all of them, to the letter", arguments: pages)
    func sameCode(page: String, tests: String) throws {
        let blocks = try DocumentationPage(page).blocks.filter { $0.language == "swift" }
        let snippets = try Self.snippets("\(tests)/DocumentationExamples.swift")
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(snippets.contains(block.text), "line \(block.line) of \(page)") }
        for snippet in snippets { #expect(blocks.contains { $0.text == snippet }, "not on the page:\n\(snippet)") }
    }

    /// From `… // snippet: name` to `// end`, without the indentation that all lines share.
    private static func snippets(_ path: String) throws -> [String] {
        var snippets: [String] = []
        var current: [Substring]?
        for line in try ShippedFiles.text(path).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("// snippet: ") {
                current = []
            } else if text == "// end" {
                let lines = try #require(current)
                let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                snippets.append(lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n"))
                current = nil
            } else {
                current?.append(line)
            }
        }
        return snippets
    }
}
