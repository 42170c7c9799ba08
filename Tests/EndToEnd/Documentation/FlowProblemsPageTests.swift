import JSONDocument
import Navigation
import Support
import Testing

@Suite("docs/flow-problems.md")
struct FlowProblemsPageTests {
    /// The code that a section is about, when it is about one.
    private static func code(_ heading: String) -> FlowProblemCode? {
        FlowProblemCode(rawValue: heading.filter { $0 != "`" })
    }

    @Test("has a row for each code, which says whether it is a warning")
    func complete() throws {
        let rows = try ShippedFiles.text("docs/flow-problems.md").matches(of: #/(?m)^\| `([a-z_]+)` \| ([a-z]+) \|/#)
        #expect(rows.map { String($0.output.1) }.sorted() == FlowProblemCode.allCases.map(\.rawValue).sorted())
        for row in rows {
            let severity = FlowProblemCode(rawValue: String(row.output.1))?.severity
            #expect((row.output.2 == "warning") == (severity == .warning), "\(row.output.1)")
        }
    }

    @Test("shows what concierge check says of each example, which is about that code")
    func examples() async throws {
        let page = try DocumentationPage("docs/flow-problems.md")
        let base = try #require(page.blocks.first { $0.path == "config/flows/door.json" })
        let door = try JSONDocument(parsing: Array(base.text.drop { $0 != "\n" }.utf8))
        for (heading, blocks) in page.sections {
            guard let code = Self.code(heading) else { continue }
            var files = ["config/concierge.json": "{}", "config/flows/door.json": base.text + "\n"]
            for block in blocks where block.language == "json" {
                let merged = { door.merging(try JSONDocument(parsing: Array(block.text.utf8))).description }
                files[block.path ?? "config/flows/door.json"] = try block.path == nil ? merged() : block.text + "\n"
            }
            let shown = try #require(blocks.last { $0.language == "text" }, "\(heading)")
            try await withFolder(files) { folder, _ in
                let (text, status) = await output(of: ["check"], files: folder)
                // The page has no places in the files, which are merged.
                let lines = text.split(separator: "\n").dropLast().map { $0.replacing(#/^[^ ]+: /#, with: "") }
                #expect(lines.joined(separator: "\n") == shown.text, "line \(shown.line)")
                #expect(lines.contains { $0.contains(" \(code.rawValue): ") }, "line \(shown.line)")
                #expect((status == 0) == !text.contains(": error: "))
            }
        }
    }
}
