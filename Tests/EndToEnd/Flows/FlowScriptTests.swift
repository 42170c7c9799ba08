import JSONDocument
import Support
import Testing

@Suite("concierge test")
struct FlowScriptTests {
    @Test("the scripts of the flows that ship all hold")
    func shipped() async throws {
        let (text, status) = await output(of: ["test"], files: ShippedFiles.repository)
        #expect(status == 0, "\(text)")
        #expect(text.contains("all hold"))
        #expect(!text.contains(": nothing took "), "\(text)")
    }

    private static let flow = """
        {"id": "tour", "version": 1, "initial": "start",
         "guards": {"named": {"service": "profile", "schema": {"properties": {"name": {"minLength": 1}}}}},
         "states": {
           "start": {"on": {"go": {"guard": "named", "target": "ask"}, "leave": {"target": "left"}}},
           "ask": {"type": "flow", "flow": "question", "on": {"done.yes": {"target": "page"}, "done.no": {}}},
           "page": {"on": {"stamp": {"actions": [{"op": "add", "path": "/profile/email", "value": {"$from": "/now"}}]},
                           "finish": {"target": "left"}}},
           "left": {"type": "final"}}}
        """
    private static let question = """
        {"id": "question", "version": 1, "initial": "q", "states": {
           "q": {"on": {"yes": {"target": "yes"}, "no": {"target": "no"}}}, "yes": {"type": "final"}, "no": {"type": "final"}}}
        """

    private static func run(_ scripts: [String: String]) async throws -> (text: String, status: Int32) {
        var files = [
            "config/concierge.json": "{}", "config/flows/tour.json": flow, "config/flows/question.json": question,
        ]
        for (name, text) in scripts { files["config/flows/tests/\(name)"] = text }
        return try await withFolder(files) { folder, _ in await output(of: ["test"], files: folder) }
    }

    @Test("given is what there is before the first step: services, a user, the time, a screen, ends of children")
    func given() async throws {
        let (text, status) = try await Self.run([
            "tour.json": """
            {"given": {"services": {"profile": {"name": "Ada"}}, "user": {"user_id": "ada", "claims": {"vip": true}},
                       "now": "2026-01-31T10:00:00+01:00", "children": {"question": {"outcome": "yes"}}, "at": "start"},
             "steps": [{"event": "go", "expect": {"screen": "page", "stack": ["start", "page"]}},
                       {"event": "stamp", "expect": {"data": {"profile": {"email": "2026-01-31T09:00:00.000Z"},
                                                              "user": {"id": "ada", "claims": {"vip": true}}}}},
                       {"event": "finish", "expect": {"outcome": "left"}}]}
            """
        ])
        #expect(status == 0, "\(text)")
        #expect(
            text == """
                question: nothing took /states/q/on/no
                question: nothing took /states/q/on/yes
                tour: nothing took /states/ask/on/done.no
                tour: nothing took /states/start/on/leave
                config/flows/tests: 1 script, all hold; 4 of 8 transitions taken

                """)
    }

    @Test(
        "what differs is printed, and the status is 1",
        arguments: [
            (#"{"event": "leave", "expect": {"screen": "page"}}"#, #"the screen is none, and not "page""#),
            (#"{"event": "leave", "expect": {"outcome": "gone"}}"#, #"the outcome is "left", and not "gone""#),
            (#"{"event": "leave", "expect": {"refused": true}}"#, "it was taken, and not refused"),
            (#"{"event": "go", "expect": {"screen": "page"}}"#, "it was refused: guard_not_met: /profile/name"),
            (#"{"event": "go"}"#, "it was refused: guard_not_met: /profile/name"),
            (
                #"{"event": "go", "expect": {"refused": "invalid_input"}}"#,
                "it was refused as guard_not_met, and not as invalid_input"
            ),
            (#"{"event": "leave", "expect": {"stack": ["start"]}}"#, "the stack is , and not start"),
            (
                #"{"event": "leave", "expect": {"data": {"profile": {"name": "Ada"}}}}"#,
                #"and does not have {"name":"Ada"}"#
            ),
        ])
    func differences(step: String, difference: String) async throws {
        let (text, status) = try await Self.run(["tour.json": #"{"steps": [\#(step)]}"#])
        #expect(status == 1)
        #expect(text.hasPrefix("config/flows/tests/tour.json\n  step 1, "), "\(text)")
        #expect(text.contains(difference), "\(text)")
        #expect(text.contains("1 script, 1 differs; "))
    }

    @Test("what concierge paths prints is a file of scripts, and takes every transition")
    func paths() async throws {
        let files = ["config/concierge.json": "{}", "config/flows/question.json": Self.question]
        let paths = try await withFolder(files) { folder, _ in await output(of: ["paths", "question"], files: folder) }
        let all = files.merging(["config/flows/tests/x.json": paths.text]) { $1 }
        let (text, status) = try await withFolder(all) { folder, _ in await output(of: ["test"], files: folder) }
        #expect(status == 0)
        #expect(text == "config/flows/tests: 2 scripts, all hold; 2 of 2 transitions taken\n")
    }

    @Test(
        "a script that is not valid is status 2, with its place",
        arguments: [
            (#"{"steps": [{"evnet": "go"}]}"#, "tour.json: /steps/0: this is not a step"),
            (#"{"steps": [{"event": "go", "expect": {"scren": "x"}}]}"#, "tour.json: /steps/0/expect/scren: "),
            (#"{"given": {"usr": "x"}, "steps": []}"#, "tour.json: /given/usr: "),
            (#"{"given": {"now": "noon"}, "steps": []}"#, "tour.json: /given/now: now is a time"),
            (#"{"stpes": [], "steps": []}"#, #"a script has no "stpes""#),
            (#"{"given": {"services": [1]}, "steps": []}"#, "tour.json: /given/services: this is not an object"),
            (#"{"given": {"tasks": 7}, "steps": []}"#, "tour.json: /given/tasks: this is not an object"),
            (#"{"steps": [{"event": "go", "backend": "yes"}]}"#, "tour.json: /steps/0: this is not a step"),
            (#"{"steps": [{"event": "go", "expect": {"stack": [1]}}]}"#, "tour.json: /steps/0/expect/stack: "),
            ("{\"steps\": [\n {\"event\": \"go\"},\n]}", "tour.json: The text is not valid JSON (byte 30)"),
        ])
    func invalid(script: String, complaint: String) async throws {
        let (text, status) = try await Self.run(["tour.json": script])
        #expect(status == 2)
        #expect(text.contains(complaint), "\(text)")
    }

    @Test("given.tasks end at once, and a step ends one that is not given")
    func tasks() async throws {
        let flow = """
            {"id": "pay", "version": 1, "initial": "a", "states": {
               "a": {"on": {"pay": {"target": "paying"}, "ask": {"target": "asking"}}},
               "paying": {"type": "task", "task": "charge", "timeout": "1m", "on": {"done.ok": {"target": "b"}, "done": {"target": "a"}}},
               "asking": {"type": "task", "task": "ask", "timeout": "1m", "on": {"done.no": {"target": "a", "nav": "pop_to"}, "done": {"target": "b"}}},
               "b": {"type": "final", "outcome": "paid"}}}
            """
        let script = """
            {"given": {"tasks": {"charge": {"outcome": "ok"}}},
             "steps": [{"event": "ask", "expect": {"screen": "asking"}},
                       {"task": "ask", "outcome": "no", "expect": {"screen": "a"}},
                       {"event": "pay", "expect": {"outcome": "paid"}}]}
            """
        let files = [
            "config/concierge.json": "{}", "config/flows/pay.json": flow, "config/flows/tests/pay.json": script,
        ]
        let (text, status) = try await withFolder(files) { folder, _ in await output(of: ["test"], files: folder) }
        #expect(status == 0, "\(text)")
    }

    @Test("a script names a version that is loaded, and no script at all is no success")
    func versions() async throws {
        let (text, status) = try await Self.run(["tour.json": #"{"version": 7, "steps": []}"#])
        #expect(status == 1 && text.contains("no flow has that name and version"), "\(text)")
        #expect(try await Self.run(["other.jsn": "{}"]).status == 1)
    }

    @Test("a flow with concurrency first_write can be tested, and an always at its top counts as taken")
    func firstWrite() async throws {
        let flow = """
            {"id": "careful", "version": 1, "initial": "a", "concurrency": "first_write",
             "always": [{"guard": {"has": "/profile/email"}, "target": "c"}],
             "states": {"a": {"on": {"next": {"target": "b"}}},
               "b": {"on": {"give": {"actions": [{"op": "add", "path": "/profile/email", "value": "x"}]}}}, "c": {}}}
            """
        let files = [
            "config/concierge.json": "{}", "config/flows/careful.json": flow,
            "config/flows/tests/careful.json": #"[{"event": "next"}, {"event": "give", "expect": {"screen": "c"}}]"#,
        ]
        let (text, status) = try await withFolder(files) { folder, _ in await output(of: ["test"], files: folder) }
        #expect(status == 0 && text.contains("3 of 3 transitions taken"), "\(text)")
    }

    @Test("simulate reads the same scripts, and says what differs")
    func simulate() async throws {
        let script = """
            {"given": {"services": {"profile": {"name": "Ada"}}, "children": {"question": {"outcome": "no"}}},
             "steps": [{"event": "go", "expect": {"screen": "page"}}, {"event": "finish", "expect": {"refused": true}}]}
            """
        let files = [
            "config/concierge.json": "{}", "config/flows/tour.json": Self.flow,
            "config/flows/question.json": Self.question,
            "s.json": script,
        ]
        let (text, status) = try await withFolder(files) { folder, _ in
            await output(of: ["simulate", "tour", "--script", "s.json"], files: folder)
        }
        #expect(status == 1)
        #expect(text.contains(#"differs: the screen is "start", and not "page""#), "\(text)")
        #expect(text.components(of: "differs:") == 1, "\(text)")
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
