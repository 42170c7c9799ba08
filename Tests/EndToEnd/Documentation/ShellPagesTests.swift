import Configuration
import JSONDocument
import Support
import Testing

@Suite("Pages whose commands a shell runs")
struct ShellPagesTests {
    private static let checkout = """
        {"id": "checkout", "version": 1, "initial": "basket", "states": {
           "basket": {"on": {"pay": {"target": "paying"}}},
           "paying": {"type": "task", "task": "charge-card", "retry": {"attempts": 3, "after": "1h"},
                      "on": {"done": {"target": "thanks"}}},
           "thanks": {"on": {"close": {"target": "closed"}}}, "closed": {"type": "final"}}}
        """

    /// `concierge` on a terminal without colours.
    private static func program() throws -> [ShellCommand] {
        let path = try ProgramProcess.executable()
        let command = #"NO_COLOR=1 script -qec "$(printf '%q ' '\#(path)' "$@")" /dev/null </dev/null | tr -d '\r'"#
        return ShellCommand.all(in: "$ concierge() { \(command); }")
    }

    @Test(
        "the calls of operators: a reload, and a journey that hangs goes on",
        arguments: [("Reload", 1), ("When somebody says that checkout hangs", 6)])
    func calls(heading: String, count: Int) async throws { try await Self.check(heading, count) }

    @Test("the commands of operators on a terminal", .enabled(if: Terminals.arePossible, Terminals.missing))
    func commands() async throws { try await Self.check("From the command line", 7) }

    private static func check(_ heading: String, _ count: Int) async throws {
        let page = try DocumentationPage("docs/running.md")
        let blocks = page.blocks.filter { $0.language == "console" && $0.heading == heading }
        let shown = blocks.flatMap { ShellCommand.all(in: $0.text) }
        #expect(shown.count == count)
        let commands = try program() + shown
        try await withApplication(flows: [Self.checkout]) { app in
            let admin = app.admin()
            let client = app.client().with(token: try await app.signIn("ada", to: try await app.newSession().id))
            let journey = try await client.start("checkout")
            try await client.event("pay", on: journey)
            let task = try #require(try await admin.claim("charge-card").first)
            #expect(
                try await admin.post("failure", of: task, #"{"reason":"the bank does not answer"}"#).status == 204)
            #expect(try await admin.claim("charge-card").isEmpty)
            let outputs = try await withFolder([:]) { _, folder in
                try await ShellCommand.outputs(
                    of: commands, in: folder, addresses: ["localhost:8081": app.adminPort])
            }
            #expect(outputs.count == commands.count)
            for (command, output) in zip(commands, outputs) {
                #expect(output.isShown(as: command.output), "\(command.text)\n\(output)")
            }
            switch heading {
            case "Reload": #expect(try await client.get(journey).screen == "paying")
            case "From the command line": #expect(try await client.get(journey).status == 404)
            default:
                #expect(try await app.endTask("charge-card", #"{"outcome":"ok"}"#) == 204)
                #expect(try await client.get(journey).screen == "thanks")
            }
        }
    }

    @Test(
        "each command does what the page shows, with the files that it shows",
        arguments: ["README.md", "docs/http.md", "docs/document-services.md", "docs/persons.md"])
    func page(_ path: String) async throws {
        let blocks = try DocumentationPage(path).blocks
        var files = ["config/concierge.json": "{}"]
        for block in blocks { if let path = block.path { files[path] = block.text } }
        let commands = blocks.filter { $0.language == "console" }.flatMap { ShellCommand.all(in: $0.text) }
        #expect(commands.count > 5)
        try await withFolder(files) { reader, folder in
            let loaded = ConfigurationLoader(environment: [:], files: reader).load()
            #expect(loaded.problems == [])
            try await withApplication(
                services: try ShippedFiles.services() + loaded.services, flows: try ShippedFiles.flows(),
                {
                    $0.mainFlow = "main"
                    $0.cors.allowedOrigins = ["https://app.example.org"]
                },
                { app in
                    let outputs = try await ShellCommand.outputs(
                        of: commands, in: folder,
                        addresses: ["localhost:8080": app.publicPort, "localhost:8081": app.adminPort])
                    #expect(outputs.count == commands.count)
                    for (command, output) in zip(commands, outputs) {
                        #expect(output.isShown(as: command.output), "\(command.text)\n\(output)")
                    }
                })
        }
    }
}
