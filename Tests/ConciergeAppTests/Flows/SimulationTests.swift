import Commands
import Support
import Synchronization
import Testing

@Suite("Simulations")
struct SimulationTests {
    private static let flow = """
        {"id": "tour", "version": 1, "initial": "start", "timeout": {"idle": "30m"},
         "guards": {"named": {"service": "profile", "schema": {"properties": {"name": {"minLength": 1}}}}},
         "states": {
           "start": {"screen": "Start", "title": "Hello", "data": ["profile"],
             "accepts": {"sign_in": {"type": "object", "required": ["name"]}},
             "on": {"sign_in": {"target": "page", "actions": [
                      {"op": "add", "path": "/profile/name", "value": {"$from": "/event/name"}}]},
                    "skip": {"target": "page", "guard": "named"}}},
           "page": {"on": {"finish": {"target": "done"}}},
           "done": {"type": "final", "output": {"name": {"$from": "/profile/name"}}}}}
        """

    @Test("show each screen, and explain what is refused; the status is 0 when every step was taken")
    func play() async throws {
        let run = try await Self.simulate(
            """
            {"event": "sign_in", "data": {"name": "Ada"}}
            {"back": true}

            {"event": "skip"}
            {"event": "finish"}
            """)
        #expect(run.complaint == "")
        #expect(run.status == 0)
        #expect(
            run.result == """
                start tour 1
                  screen  start (Start)
                  title   Hello
                  data    profile {"attributes":{},"email":null,"locale":null,"name":""}
                  stack   tour/start
                  events  sign_in
                  not     skip: /profile/name must have at least 1 character

                > sign_in {"name":"Ada"}
                  screen  page
                  stack   tour/start, tour/page
                  events  finish

                > back
                  screen  start (Start)
                  title   Hello
                  data    profile {"attributes":{},"email":null,"locale":null,"name":"Ada"}
                  stack   tour/start
                  events  sign_in, skip

                > skip
                  screen  page
                  stack   tour/start, tour/page
                  events  finish

                > finish
                  finished done {"name":"Ada"}

                """)
    }

    @Test("a refused step is explained, the rest is played, and the status is 1")
    func refused() async throws {
        let run = try await Self.simulate(
            #"[{"event": "skip"}, {"event": "nothing"}, {"event": "sign_in"}, {"navigate": "page"}, {"wait": "29m"}]"#)
        #expect(run.status == 1)
        #expect(run.result.contains("\n> skip\n  refused guard_not_met: "))
        #expect(run.result.contains("\n  /profile/name must have"))
        #expect(run.result.contains("\n> nothing\n  refused event_not_accepted: "))
        #expect(run.result.contains("accepted [\"sign_in\""))
        #expect(run.result.contains("\n> sign_in\n  refused invalid_input: "))
        #expect(run.result.contains("\n  /data/name is required"))
        #expect(run.result.contains("\n> navigate to page\n  refused unreachable: "))
        #expect(run.result.contains("\n> wait 29m\n  screen  start"))
    }

    @Test("time passes when the script says so")
    func wait() async throws {
        let run = try await Self.simulate(#"{"wait": "31m"}"#)
        #expect(run.status == 0)
        #expect(run.result.hasSuffix("> wait 31m\n  expired\n"))
    }

    @Test(
        "what is no script, no flow or no input is status 2, with the place",
        arguments: [
            (
                ["tour", "--script", "s"], "{\"event\": \"a\"}\n{\"evnt\": \"b\"}",
                "concierge: s:2: this is not a step; "
            ),
            (["tour", "--script", "s"], "[{\"event\": \"a\"}, 7]", "concierge: s: /1: this is not a step; "),
            (["tour", "--script", "s"], "{\"event\": \"a\"}\n{", "concierge: s:2: "),
            (["tour", "--script", "s"], #"{"wait": "soon"}"#, "concierge: s:1: this is not a step; "),
            (["tuor", "--script", "s"], "", #"concierge: there is no flow "tuor"; did you mean tour?"#),
            (["tour", "--script", "t"], "", "concierge: t "),
            (["tour", "--script", "s", "--input", "{"], "", "concierge: --input is not JSON: "),
        ])
    func wrong(arguments: [String], script: String, complaint: String) async throws {
        let run = try await Self.run(["simulate"] + arguments, script)
        #expect(run.status == 2)
        #expect(run.result == "")
        #expect(run.complaint.hasPrefix(complaint), "\(run.complaint)")
    }

    private static func simulate(_ script: String) async throws -> (status: Int32, result: String, complaint: String) {
        try await run(["simulate", "tour", "--script", "s"], script)
    }

    private static func run(
        _ arguments: [String], _ script: String
    ) async throws -> (status: Int32, result: String, complaint: String) {
        let text = Mutex((result: "", complaint: ""))
        let output = ProgramOutput(
            result: { more in text.withLock { $0.result += more } },
            complaint: { more in text.withLock { $0.complaint += more } })
        let status = try await withFolder(["flows/tour.json": flow, "s": script]) { reader, _ in
            await Program.run(
                arguments: arguments + ["--flows", "flows"], environment: [:], files: reader, output: output
            ) { _ in 42 }
        }
        return text.withLock { (status, $0.result, $0.complaint) }
    }
}
