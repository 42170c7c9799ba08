import ConciergeApp
import JSONDocument
import Navigation
import Support
import Testing

@Suite("docs/flows.md")
struct FlowsPageTests {
    @Test("each file is loaded, each command and request is done, and says what the page shows")
    func page() async throws {
        let blocks = try DocumentationPage("docs/flows.md").blocks
        // From the first request on a server runs, on the files that there are by then.
        let start = try #require(blocks.firstIndex { $0.text.hasPrefix("$ curl") })
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

    @Test("the flow that calls a command does it, and a refusal refuses the step")
    func commands() throws {
        let page = try DocumentationPage("docs/flows.md")
        let block = try #require(page.blocks.first { $0.path == "shop/config/flows/shop.json" })
        let file = FlowFile(name: "shop.json", bytes: Array(block.text.utf8))
        let (catalog, problems) = FlowLoader(services: Shop.directory).load([file])
        #expect(problems == [])
        let engine = FlowEngine(catalog: try #require(catalog))
        let journey = try engine.start(flow: "shop", id: "main", services: Shop(), now: 0).journey
        let step = try engine.send(
            "add", data: ["id": "tea", "count": 2], to: journey, services: Shop(), now: 0)
        #expect(step.changes.map(\.effect) == [.written(["attributes": ["spent": 6]])])
        #expect(try engine.send("pay", to: step.journey, services: Shop(), now: 0).journey.output == ["total": 6])
        let refusal = JourneyRefusal.guardNotMet([JSONViolation(pointer: "/event/id", detail: "There is no beer.")])
        #expect(throws: refusal) {
            try engine.send("add", data: ["id": "beer", "count": 1], to: step.journey, services: Shop(), now: 0)
        }
    }

    @Test("has a section for each line of its table of contents")
    func contents() throws {
        let text = try ShippedFiles.text("docs/flows.md")
        let titles = text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        let listed = text.matches(of: /\n\d+\. \[(.+)\]\(#.+\)/).map { $0.output.1 }
        #expect(listed == titles)
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

/// The services of the flow that calls a command, and the command.
private struct Shop: ServiceDocuments {
    static let directory = ServiceDirectory([
        .init(name: "profile"),
        .init(
            name: "cart", schema: ["type": "object", "properties": ["total": ["type": "integer"]]], isOwnable: true,
            commands: [
                ServiceDirectory.Command(
                    name: "add",
                    input: [
                        "type": "object", "required": ["id", "count"], "additionalProperties": false,
                        "properties": ["id": ["type": "string"], "count": ["type": "integer", "minimum": 1]],
                    ], output: ["type": "integer"])
            ]),
    ])

    func document(of service: String) -> JSONDocument? { defaultDocument(of: service) }
    func defaultDocument(of service: String) -> JSONDocument? {
        service == "cart" ? ["total": 0] : ["attributes": .emptyObject]
    }
    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] { [] }

    func call(
        _ command: String, of service: String, with input: JSONDocument?,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        guard let id = input?[member: "id"]?.string, let count = input?[member: "count"]?.int, id == "tea" else {
            throw CommandRefusal([JSONViolation(pointer: "/id", detail: "There is no beer.")])
        }
        let total = JSONDocument((document("cart")?[member: "total"]?.int ?? 0) + 3 * count)
        return CommandResult(
            output: total, changes: [ServiceChange(service: "cart", effect: .written(["total": total]))])
    }
}
