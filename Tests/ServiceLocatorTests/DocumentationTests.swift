import Foundation
import Testing

@Suite("The page of documentation")
struct DocumentationTests {
    /// From `… // snippet: name` to `// end`, without the indentation that all lines share.
    private func snippets() throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "DocumentationExamples.swift")
        var snippets: [String] = []
        var current: [Substring]?
        for line in try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            let text = line.drop(while: { $0 == " " })
            if text.hasPrefix("// snippet: ") {
                current = []
            } else if text == "// end" {
                snippets.append(outdented(try #require(current)))
                current = nil
            } else {
                current?.append(line)
            }
        }
        return snippets
    }

    private func outdented(_ lines: [Substring]) -> String {
        let depth = lines.filter { !$0.isEmpty }.map { $0.prefix(while: { $0 == " " }).count }.min() ?? 0
        return lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n")
    }

    private func blocks() throws -> [String] {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/service-locator.md")
        return try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
            .map { block in try #require(block.components(separatedBy: "\n```").first) }
    }

    @Test("shows only code that is compiled and run, and all of it")
    func sameCode() throws {
        let (snippets, blocks) = (try snippets(), try blocks())
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(snippets.contains(block), "not in DocumentationExamples.swift:\n\(block)") }
        for snippet in snippets { #expect(blocks.contains(snippet), "not on the page:\n\(snippet)") }
    }
}
