import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// `concierge init`.
@Suite("A first application")
struct InitCommandTests {
    private static func run(_ command: String, in folder: String) async throws -> ProgramProcess.Result {
        try await ProgramProcess(
            command: ["/bin/bash", "-c", "cd '\(folder)' && exec '\(try ProgramProcess.executable())' \(command)"],
            environment: [:]
        ).result()
    }

    @Test("has nothing to complain of, passes its test, and is served", arguments: ["", "shop"])
    func walk(directory: String) async throws {
        try await withFolder([:]) { _, parent in
            let made = try await Self.run("init \(directory)", in: parent)
            #expect(made.status == 0 && made.complaints.isEmpty, "\(made)")
            for command in ["check", "test", "dev"] { #expect(made.output.contains("  concierge \(command) ")) }
            #expect(made.output.contains("cd shop") == !directory.isEmpty)
            let folder = directory.isEmpty ? parent : "\(parent)/\(directory)"
            let check = try await Self.run("check", in: folder)
            #expect(check.status == 0 && check.complaints.isEmpty, "\(check)")
            #expect(check.output.hasSuffix("1 service file and 1 flow file: 0 errors, 0 warnings\n"))
            let test = try await Self.run("test", in: folder)
            #expect(test.status == 0, "\(test)")
            #expect(test.output == "config/flows/tests: 2 scripts, all hold; 2 of 2 transitions taken\n")

            let server = try await ServingProgram(["--config", "\(folder)/config/concierge.json", "--store", "memory"])
            let client = server.client.with(token: try await server.newToken())
            #expect(try await client.get(Paths.main).screen == "stars")
            let many = try await client.send(
                "POST", "\(Paths.main)/events", json: #"{"event":"rate","data":{"stars":6}}"#)
            #expect(many.status == 400 && many.pointers == ["/data/stars"], "\(many.text)")
            try await client.send("POST", "\(Paths.main)/events", json: #"{"event":"rate","data":{"stars":4}}"#)
            #expect(try await client.get(Paths.main).screen == "comment")
            let sent = try await client.send(
                "POST", "\(Paths.main)/events", json: #"{"event":"send","data":{"comment":"More tea."}}"#)
            #expect(sent[member: "output"] == ["stars": 4, "comment": "More tea."], "\(sent.text)")
            try await server.end()
        }
    }

    @Test("nothing is written where one of its files is there already, or where nothing can be")
    func refused() async throws {
        try await withFolder(["config/flows/feedback.json": "mine", "file": ""]) { files, folder in
            let refused = try await Self.run("init", in: folder)
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(
                refused.complaints
                    == "concierge: config/flows/feedback.json is there already, and nothing was written\n")
            #expect(String(decoding: try files.read("config/flows/feedback.json"), as: UTF8.self) == "mine")
            #expect(try files.names(in: "config") == ["flows"])
            let file = try await Self.run("init file", in: folder)
            #expect(file.status == 1 && file.complaints.hasPrefix("concierge: file"), "\(file)")
            #expect(try await Self.run("init a b", in: folder).status == 2)
            #expect(try await Self.run("init a --port 7", in: folder).status == 2)
        }
    }
}
