import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// `concierge dev`.
@Suite("Files that are taken over as they are saved")
struct DevelopmentTests {
    private static func tour(_ title: String) -> String {
        """
        {"id": "tour", "version": 1, "input": {"type": "object"}, "initial": "first", "states": {
           "first": {"title": "\(title)", "on": {"next": {"target": "checking"}}},
           "checking": {"type": "task", "task": "check",
                        "on": {"done.ok": {"target": "good"}, "done": {"target": "first"}}},
           "good": {"on": {"end": {"target": "done"}}}, "done": {"type": "final"}}}
        """
    }

    private static func withAuthor(
        _ flags: [String] = [], _ body: (ProgramProcess, TestClient, String) async throws -> Void
    ) async throws {
        let files = [
            "concierge.json": "{}", "flows/tour.json": tour("Welcome"),
            "tasks.json": #"{"steps": [{"task": "check", "outcome": "wrong"}, {"task": "check", "outcome": "ok"}]}"#,
        ]
        try await withFolder(files) { _, folder in
            let process = try ProgramProcess(
                [
                    "dev", "--config", "\(folder)/concierge.json", "--store", "memory", "--port", "0", "--admin-port",
                    "0", "--tasks", "\(folder)/tasks.json",
                ] + flags)
            let demo = try #require(try process.output { $0.hasPrefix("demo ") })
            let port = try #require(demo.firstMatch(of: /:(\d+)\/demo/)?.1).description
            #expect(try process.output { $0.hasPrefix("watching ") } != nil)
            let anybody = TestClient(port: try #require(UInt16(port)))
            #expect(try await anybody.get("/demo").status == 200)
            let created = try await anybody.send("POST", Paths.sessions)
            try await body(process, anybody.with(token: try #require(created[member: "token"]?.string)), folder)
            process.send(SIGTERM)
            #expect(try await process.result().status == 0)
        }
    }

    @Test("a saved edit is on the screen of a running journey, which starts over with its input")
    func edit() async throws {
        try await Self.withAuthor { process, client, folder in
            let journey = try await client.start("tour", input: #"{"a":1}"#)
            try await client.event("next", on: journey)
            // The script says wrong, and the journey comes back.
            var shown = try await client.get(journey)
            while shown.screen != "first" || shown.step == 1 { shown = try await client.get(journey) }
            let begin = ContinuousClock.now
            try save(Self.tour("Hello"), "\(folder)/flows/tour.json")
            let edited = try await client.get(
                journey, fields: [("If-None-Match", shown["ETag"] ?? ""), ("Prefer", "wait=30")])
            print("from save to view: \(ContinuousClock.now - begin)")
            #expect(edited.status == 200 && edited[member: "screen"]?[string: "title"] == "Hello")
            #expect(edited.stack == ["first"] && edited[member: "version"] == 1)
            #expect(try process.output { $0.hasPrefix("taken over: ") } != nil)
            // What is wrong changes nothing, and the next good save is taken over.
            try save(
                Self.tour("Bye").replacing(#""good""#, with: #""god""#, maxReplacements: 1), "\(folder)/flows/tour.json"
            )
            try save("{", "\(folder)/flows/other.json")
            let checked = try await ProgramProcess.run(["check", "--config", "\(folder)/concierge.json"])
            for line in checked.lines.map(String.init) { #expect(try process.complaint { $0 == line } != nil) }
            #expect(try await client.get(journey)[member: "screen"]?[string: "title"] == "Hello")
            unlink("\(folder)/flows/other.json")
            try save(Self.tour("Bye"), "\(folder)/flows/tour.json")
            let mended = try await client.get(
                journey, fields: [("If-None-Match", edited["ETag"] ?? ""), ("Prefer", "wait=30")])
            #expect(mended[member: "screen"]?[string: "title"] == "Bye")
            // And the second time the task ends well.
            try await client.event("next", on: journey)
            var last = try await client.get(journey)
            while last.screen == "checking" { last = try await client.get(journey) }
            #expect(last.screen == "good")
        }
    }

    @Test("a new service file, and a flow of a new folder, are taken over, too")
    func newFiles() async throws {
        try await Self.withAuthor { process, client, folder in
            try #require(mkdir("\(folder)/services", 0o700) == 0)
            try save(
                #"{"name": "basket", "schema": {"type": "object"}, "default": {}}"#, "\(folder)/services/basket.json")
            #expect(try process.output { $0 == "taken over: services: added basket; configuration: services" } != nil)
            #expect(try await client.get(Paths.service("basket")).status == 200)
            // Not polled, and not told twice.
            try save(#"{"name": "basket", "schema": true, "default": {}}"#, "\(folder)/services/basket.json")
            #expect(try process.output { $0.hasPrefix("taken over: ") } == "taken over: services: changed basket")
        }
    }

    @Test(
        "without a script it asks at the keyboard what a task ends with, and again after an answer that cannot be",
        .enabled(if: Terminals.arePossible, Terminals.missing))
    func keyboard() async throws {
        try await withFolder(["concierge.json": "{}", "flows/tour.json": Self.tour("Welcome")]) { _, folder in
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            defer { for end in ends { close(end) } }
            let program = try ProgramProcess.executable()
            let command =
                "\(program) dev --config \(folder)/concierge.json --store memory --port 0 --admin-port 0 2>/dev/null"
            // It gives the program a terminal.
            let process = try ProgramProcess(
                command: ["/bin/sh", "-c", "exec script -qec '\(command)' /dev/null <&3"], environment: [:],
                passing: [ends[0]])
            let demo = try #require(try process.output { $0.hasPrefix("demo ") })
            let port = try #require(demo.firstMatch(of: /:(\d+)\/demo/)?.1).description
            let anybody = TestClient(port: try #require(UInt16(port)))
            let created = try await anybody.send("POST", Paths.sessions)
            let client = anybody.with(token: try #require(created[member: "token"]?.string))
            let journey = try await client.start("tour")
            try await client.event("next", on: journey)
            let question = try process.output { $0.hasPrefix("which outcome?") }
            #expect(question?.hasPrefix("which outcome? 1 ok; JSON after it is the output") == true)
            func type(_ answers: String) { #expect(write(ends[1], answers, answers.utf8.count) == answers.utf8.count) }
            type("ok {\n1\n")
            #expect(try process.output { $0.hasPrefix("task check {}: ok") } != nil)
            #expect(try await client.get(journey).screen == "good")
            // A task that ends before the answer comes holds nobody up.
            for isOver in [true, false] {
                let journey = try await client.start("tour")
                try await client.event("next", on: journey)
                #expect(try process.output { $0.hasPrefix("which outcome?") } != nil)
                if isOver { #expect(try await client.send("DELETE", journey).status == 204) }
                type("1\n")
                let told = isOver ? "task check: it is over" : "task check {}: ok"
                #expect(try process.output { $0.hasPrefix("task check") }?.hasPrefix(told) == true)
            }
            // Then the terminal is gone, and with it the server that has been started there.
            try await blocking {
                let connection = try RawConnection(port: anybody.port)
                #expect(try connection.get("/health/alive").status == 200)
                process.send(SIGTERM)
                #expect(try connection.readToEnd().isEmpty)
                #expect(throws: (any Error).self) { try RawConnection(port: anybody.port) }
            }
            _ = try await process.result()
        }
    }

    @Test("it listens on loopback alone, and says so", arguments: ["--host", "--admin-host"])
    func loopback(flag: String) async throws {
        let result = try await ProgramProcess.run([
            "dev", flag, "0.0.0.0", "--store", "memory", "--set", "admin.key=an-admin-key-of-24-bytes",
        ])
        #expect(result.status == 2)
        #expect(
            result.complaints
                == "concierge: dev listens on loopback alone, for one person's machine, and "
                + "\(flag == "--host" ? "host" : "admin.host") is 0.0.0.0 (flag \(flag))\n")
    }
}
