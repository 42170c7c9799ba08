import HTTPTestClient
import Support
import Testing

@Suite("docs/moving.md")
struct MovingPageTests {
    @Test("each command does what the page shows, from memory to a database and back, and nothing is lost")
    func page() async throws {
        let commands = try DocumentationPage("docs/moving.md").blocks.filter { $0.language == "console" }
            .flatMap { block in
                ShellCommand.all(in: block.text)
            }
        #expect(commands.count > 3)
        try await withFolder([:]) { _, folder in
            let flows = [TestFlows.wizard]
            try await withApplication(flows: flows, setting: \.mainFlow, to: "wizard") { old in
                let clients = try await Self.furnish(old, sessions: 1_000)
                let shown = try await Self.look(at: clients, on: old)
                try await withApplication(
                    flows: flows,
                    {
                        $0.mainFlow = "wizard"
                        $0.store = .sqlite("\(folder)/new.db")
                        $0.maxResidentBytes = 60_000
                    },
                    { new in
                        try await Self.run(commands[...], in: folder, from: old, to: new)
                        #expect(try await Self.look(at: clients, on: new) == shown)
                        try await withApplication(flows: flows, setting: \.mainFlow, to: "wizard") { back in
                            try await Self.run(commands[..<2], in: folder, from: new, to: back)
                            #expect(try await Self.look(at: clients, on: back) == shown)
                            // They go on from where they were.
                            let client = back.client().with(token: clients[0])
                            #expect(try await client.event("back", on: Paths.main).screen == "start")
                        }
                    })
            }
        }
    }

    private static func run(
        _ commands: ArraySlice<ShellCommand>, in folder: String, from old: RunningApplication,
        to new: RunningApplication
    ) async throws {
        let outputs = try await ShellCommand.outputs(
            of: Array(commands), in: folder,
            addresses: ["localhost:8081": old.adminPort, "localhost:9081": new.adminPort])
        #expect(outputs.count == commands.count)
        for (command, output) in zip(commands, outputs) {
            #expect(output.isShown(as: command.output), "\(command.text):\n\(output)")
        }
    }

    /// - Returns: the tokens.
    private static func furnish(_ app: RunningApplication, sessions count: Int) async throws -> [String] {
        var tokens: [String] = []
        for number in 0..<count {
            let new = try await app.newSession()
            var token = new.token
            if number.isMultiple(of: 5) {
                token = try await app.signIn("user-\(number)", to: new.id, claims: #"{"n":\#(number)}"#)
            }
            let client = app.client().with(token: token)
            if number.isMultiple(of: 2) {
                _ = try await client.event("sign_in", #"{"name":"Ada \#(number)"}"#, on: Paths.main)
            }
            if number.isMultiple(of: 3) {
                try await client.patch(Paths.current, #"{"labels":{"n":"\#(number)"}}"#)
            }
            tokens.append(token)
        }
        return tokens
    }

    /// What clients see, entity tags too.
    private static func look(at tokens: [String], on app: RunningApplication) async throws -> [[String]] {
        var seen: [[String]] = []
        for token in tokens.prefix(30) + tokens.suffix(30) {
            let client = app.client().with(token: token)
            var answers: [String] = []
            for path in [Paths.profile, "/v1/sessions/current/services/user", "/v1/sessions/current/journeys"] {
                let answer = try await client.get(path)
                answers.append("\(answer.status) \(answer["ETag"] ?? "-") \(answer.text)")
            }
            let session = try await client.get(Paths.current)
            for name in ["id", "created_at", "expires_at", "revision", "labels", "user_id"] {
                answers.append("\(name): \(session[member: name].map { "\($0)" } ?? "-")")
            }
            seen.append(answers)
        }
        return seen
    }
}
