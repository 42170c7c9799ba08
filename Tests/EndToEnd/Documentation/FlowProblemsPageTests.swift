import ConciergeApp
import Navigation
import Support
import Testing

@Suite("docs/flow-problems.md")
struct FlowProblemsPageTests {
    /// The code that a section is about, when it is about one.
    private static func code(_ heading: String) -> FlowProblemCode? {
        FlowProblemCode(rawValue: heading.filter { $0 != "`" })
    }

    @Test("has a section for each code, and for nothing else, and a list of them all")
    func complete() throws {
        let page = try DocumentationPage("docs/flow-problems.md")
        let codes = page.sections.compactMap { Self.code($0.heading) }
        #expect(codes.count == FlowProblemCode.allCases.count)
        #expect(Set(codes) == Set(FlowProblemCode.allCases))
        let text = try ShippedFiles.text("docs/flow-problems.md")
        for code in FlowProblemCode.allCases {
            #expect(text.contains("[`\(code.rawValue)`](#\(code.rawValue))"), "\(code.rawValue)")
        }
    }

    @Test("shows what concierge check says of each example, which is about that code")
    func examples() async throws {
        for (heading, blocks) in try DocumentationPage("docs/flow-problems.md").sections {
            guard let code = Self.code(heading) else { continue }
            var files = ["config/concierge.json": "{}"]
            for block in blocks where block.language == "json" { files[try #require(block.path)] = block.text + "\n" }
            let shown = try #require(blocks.last { $0.language == "text" }, "\(heading)")
            try await withFolder(files) { folder, _ in
                let (text, status) = await output(of: ["check"], files: folder)
                let lines = text.split(separator: "\n").dropLast()
                #expect(lines.joined(separator: "\n") == shown.text, "line \(shown.line)")
                #expect(lines.contains { $0.contains(" \(code.rawValue): ") }, "line \(shown.line)")
                #expect((status == 0) == !text.contains(": error: "))
            }
        }
    }

    @Test("says which are warnings")
    func warnings() throws {
        let text = try ShippedFiles.text("docs/flow-problems.md")
        for code in FlowProblemCode.allCases {
            let section = try #require(text.split(separator: "### `\(code.rawValue)`\n\n").last)
            #expect(section.hasPrefix("A warning.") == (code.severity == .warning), "\(code.rawValue)")
        }
    }
}
