import ConciergeApp
import Glibc
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
            try await withApplication(flows: flows, { $0.mainFlow = "wizard" }) { old in
                let clients = try await Self.furnish(old, sessions: 1_000)
                let shown = try await Self.look(at: clients, on: old)
                try await withApplication(
                    flows: flows,
                    {
                        $0.mainFlow = "wizard"
                        $0.store = .sqlite("\(folder)/new.db")
                        $0.maxResidentSessions = 100
                    },
                    { new in
                        for command in commands {
                            let said = try await command.run(in: folder, from: old, to: new)
                            #expect(said.isShown(as: command.output), "\(command.text):\n\(said)")
                        }
                        #expect(try await Self.look(at: clients, on: new) == shown)
                        try await withApplication(flows: flows, { $0.mainFlow = "wizard" }) { back in
                            for command in commands[..<2] {
                                let said = try await command.run(in: folder, from: new, to: back)
                                #expect(said.isShown(as: command.output), "\(command.text):\n\(said)")
                            }
                            #expect(try await Self.look(at: clients, on: back) == shown)
                            // They go on from where they were.
                            let client = back.client().with(token: clients[0])
                            #expect(try await client.event("back", on: Paths.main).screen == "start")
                        }
                    })
            }
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

/// A command that a page shows and a shell runs, and what it shows of its output.
private struct ShellCommand: Sendable {
    let text: String
    let output: String

    static func all(in block: String) -> [ShellCommand] {
        block.split(separator: "$ ").map { part in
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let output = lines.count > 1 ? String(lines[1]) : ""
            return ShellCommand(
                text: String(lines[0]), output: output.hasSuffix("\n") ? String(output.dropLast()) : output)
        }
    }

    func run(in folder: String, from old: RunningApplication, to new: RunningApplication) async throws -> String {
        let command = text.replacing("localhost:8081", with: "127.0.0.1:\(old.adminPort)")
            .replacing("localhost:9081", with: "127.0.0.1:\(new.adminPort)")
        return try await blocking {
            let pipe = try #require(popen("cd '\(folder)' && { \(command) ; } 2>&1", "re"))
            var said: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { said += buffer[..<count] }
            #expect(pclose(pipe) == 0, "\(command)")
            return String(decoding: said, as: UTF8.self)
        }
    }
}
