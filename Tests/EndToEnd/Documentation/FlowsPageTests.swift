import Configuration
import JSONDocument
import Navigation
import Support
import Testing

@Suite("docs/flows.md and docs/flow-recipes.md")
struct FlowsPageTests {
    @Test(
        "each file is loaded, each command and request is done, and says what the page shows",
        arguments: ["docs/flows.md", "docs/flow-recipes.md"])
    func page(_ path: String) async throws {
        let blocks = try DocumentationPage(path).blocks
        // From the first request on a server runs, on the files that there are by then.
        let start = blocks.firstIndex { $0.text.hasPrefix("$ curl") } ?? blocks.endIndex
        var reader = PageReader()
        for block in blocks[..<start] { try await reader.read(block) }
        let loaded = try await withFolder(reader.files) { folder, _ in
            ConfigurationLoader(environment: [:], files: folder).load()
        }
        try #require(loaded.problems == [])
        let atStart = reader
        try await withApplication(
            services: loaded.services, flows: reader.flows,
            { $0.mainFlow = loaded.configuration.mainFlow },
            { app in
                var reader = atStart
                reader.server = (app, try await app.newSession().token)
                for block in blocks[start...] { try await reader.read(block) }
            })
    }
}

/// Somebody who follows a page, block by block.
private struct PageReader {
    /// The files that the page has shown so far, by their paths.
    var files: [String: String] = [:]
    /// What `localhost` is, and the token of a session there.
    var server: (app: RunningApplication, token: String)?

    var flows: [String] {
        files.filter { $0.key.hasPrefix("config/flows/") && !$0.key.contains("/tests/") }.sorted { $0.key < $1.key }
            .map(\.value)
    }

    mutating func read(_ block: DocumentationPage.Block) async throws {
        switch block.language {
        case "json": files[try #require(block.path, "line \(block.line)")] = block.text + "\n"
        case "console":
            for command in ShownCommand.all(in: block.text) {
                let said = try await run(command)
                #expect(said.isShown(as: command.output), "below line \(block.line):\n\(said)")
            }
        default: break
        }
    }

    /// Without the last newline, which a page does not show.
    private func run(_ command: ShownCommand) async throws -> String {
        let name = try #require(command.words.first)
        if name == "curl" {
            let (app, token) = try #require(server)
            let answer = try await ShownRequest(command.words, token: token).send(by: app.client())
            return answer.last == "\n" ? String(answer.dropLast()) : answer
        }
        try #require(name == "concierge", "\(name)")
        let admin = server.map { "127.0.0.1:\($0.app.adminPort)" } ?? "localhost:8081"
        let arguments = command.words.dropFirst().map { $0.replacing("localhost:8081", with: admin) }
        let (text, _) = try await withFolder(files) { folder, _ in await output(of: arguments, files: folder) }
        return String(text.dropLast()).replacing(admin, with: "localhost:8081")
    }
}

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
