import Commands
import ConciergeApp
import Configuration
import HTTPTestClient
import JSONDocument
import Navigation
import Sessions
import Support
import Testing

/// FLOWS, "Versions".
@Suite("Journeys that move to newer versions")
struct JourneyVersionTests {
    /// A form that keeps one value of the session and one of its own, and its child.
    private static func form(
        _ version: Int, screen: String = "form", owns: String = #"["note"]"#, more: String = ""
    ) -> String {
        """
        {"id": "form", "version": \(version), "initial": "\(screen)", "owns": \(owns)\(more), "states": {
           "\(screen)": {"data": ["note", "shared"], "on": {
             "enter": {"actions": [{"op": "add", "path": "/note/text", "value": "own"},
                                   {"op": "add", "path": "/shared/count", "value": 1}]},
             "next": {"target": "\(screen)2"}, "ask": {"target": "asking"}}},
           "\(screen)2": {"data": ["shared"], "on": {"end": {"target": "done"}, "ask": {"target": "asking"}}},
           "asking": {"type": "flow", "flow": "question", "on": {"done": {}}},
           "done": {"type": "final"}}}
        """
    }

    private static let question = """
        {"id": "question", "version": 1, "initial": "ask", "states": {
           "ask": {"on": {"answer": {"target": "answered"}}}, "answered": {"type": "final"}}}
        """

    /// Renames what both services have. Neither can be done twice.
    private static let patched = """
        , "in_flight": "migrate", "migrations": [{"from": 1, "patch": [
            {"op": "move", "from": "/note/text", "path": "/note/words"},
            {"op": "move", "from": "/shared/count", "path": "/shared/total"}]}]
        """

    private static func services() throws -> [ServiceFile] {
        [try ServiceFile(name: "note", default: .emptyObject), try ServiceFile(name: "shared", default: .emptyObject)]
    }

    /// Starts a server on version 1, and another one on the same store with newer flows.
    private static func with<Kept: Sendable>(
        _ newer: [String], orphans: FlowEngine.OrphanPolicy = .refuse, log: LogFile? = nil,
        _ first: (TestClient) async throws -> Kept, then: (TestClient, Kept) async throws -> Void
    ) async throws {
        let store = MemoryStore()
        let (token, kept) = try await withApplication(
            services: try services(), flows: [form(1), question], store: store
        ) { app in
            let session = try await app.newSession()
            return (session.token, try await first(session.client))
        }
        try await withApplication(services: try services(), flows: newer + [question], store: store, log: log) {
            $0.orphanedJourneys = orphans
        } _: { app in
            try await then(app.client().with(token: token), kept)
        }
    }

    private static func twoJourneys(_ client: TestClient) async throws -> [String] {
        var journeys: [String] = []
        for _ in 0..<2 {
            let journey = try await client.start("form")
            try await client.event("enter", on: journey)
            journeys.append(journey)
        }
        return journeys
    }

    @Test("a patch runs on what the journey's own flow owns once a journey, on the session's services once a session")
    func patchesOnce() async throws {
        try await withFolder([:]) { _, folder in
            func run<Kept: Sendable>(
                _ flows: [String], _ body: (RunningApplication) async throws -> Kept
            ) async throws -> Kept {
                try await withApplication(services: try Self.services(), flows: flows + [Self.question]) {
                    $0.store = .sqlite("\(folder)/sessions.db")
                } _: {
                    try await body($0)
                }
            }
            let (token, journeys) = try await run([Self.form(1)]) { app in
                let (client, _, token) = try await app.newSession()
                return (token, try await Self.twoJourneys(client))
            }
            for journey in journeys {
                try await run([Self.form(2, more: Self.patched)]) { app in
                    let client = app.client().with(token: token)
                    let moved = try await client.event("next", on: journey)
                    #expect(moved[member: "version"] == 2, "\(moved.text)")
                    #expect(try await client.get(Paths.service("shared")).json == ["total": 1])
                    let note = try await client.get(Paths.service("note", ofJourney: journey))
                    #expect(try note.json == ["words": "own"])
                }
            }
        }
    }

    @Test("a journey that cannot go on is one item with status stuck and a problem, and hides no other")
    func stuck() async throws {
        let impossible = #"""
            , "in_flight": "migrate", "migrations": [{"from": 1, "patch": [{"op": "remove", "path": "/note/nothing"}]}]
            """#
        try await Self.with([Self.form(2, more: impossible)]) {
            try await Self.twoJourneys($0)
        } then: { client, journeys in
            let new = try await client.start("form")
            let list = try await client.get(Paths.journeys)
            #expect(list.status == 200)
            #expect(list.items.map { $0[string: "status"] } == ["stuck", "stuck", "active"])
            let shown = try await client.get(journeys[0])
            #expect(shown.status == 200)
            #expect(shown[member: "problem"]?[string: "code"] == "action_failed")
            #expect(shown[member: "problem"]?[member: "errors"]?[0]?[string: "pointer"]?.hasPrefix("/note") == true)
            #expect(shown[member: "screen"] == .null)
            #expect(try await client.event("next", on: journeys[0]).code == "action_failed")
            // It can be started over or abandoned.
            let again = try await client.send("PUT", journeys[0])
            #expect(again[member: "status"] == "active")
            #expect(again[member: "version"] == 2)
            #expect(try await client.send("DELETE", journeys[1], fields: [("If-Match", "\"1\"")]).status == 412)
            #expect(try await client.send("DELETE", journeys[1], fields: ifMatch(shown)).status == 204)
            #expect(try await client.get(Paths.journeys).items.map { $0[string: "status"] } == ["active", "active"])
            #expect(try await client.get(new).status == 200)
        }
    }

    @Test("moved to a version that does not own a service any more, the journey's instance of it is gone")
    func disposed() async throws {
        let moves = #", "in_flight": "migrate", "migrations": [{"from": 1}]"#
        try await Self.with([Self.form(1), Self.form(2, owns: "[]", more: moves)]) { client in
            let journey = try await client.start("form")
            #expect(try await client.event("enter", on: journey).shown("note")?[member: "text"] == "own")
            return journey
        } then: { client, journey in
            let moved = try await client.event("next", on: journey)
            #expect(moved[member: "version"] == 2)
            let list = try await client.get("\(journey)/services").items
            #expect(list.first { $0[string: "name"] == "note" }?[string: "owner"] == "session")
            #expect(try await client.get("\(journey)/services/note").json == .emptyObject)
        }
    }

    @Test(
        "a journey whose flow is not loaded is stuck; it can be started over with another flow, and shows no services")
    func gone() async throws {
        let store = MemoryStore()
        // Two servers on one store: the second one starts when there is no journey yet.
        try await withApplication(services: try Self.services(), flows: [Self.question], store: store) { other in
            let (token, journey) = try await withApplication(
                services: try Self.services(), flows: [Self.form(1), Self.question], store: store
            ) { app in
                let session = try await app.newSession()
                let journey = try await session.client.start("form")
                try await session.client.event("enter", on: journey)
                return (session.token, journey)
            }
            let client = other.client().with(token: token)
            let listed = try await client.get(Paths.journeys).items.first
            #expect(listed?[string: "status"] == "stuck")
            #expect(try await client.get("\(journey)/services/note").code == "journey_orphaned")
            #expect(try await client.patch("\(journey)/services/note", #"{"text":"x"}"#).code == "journey_orphaned")
            #expect(try await client.send("PUT", journey).code == "flow_not_found")
            let again = try await client.send("PUT", journey, json: #"{"flow":"question"}"#)
            #expect(again.status == 200 && again.screen == "ask")
        }
    }

    @Test("a journey whose version is gone starts over, where the configuration says so")
    func restarted() async throws {
        let log = try LogFile()
        try await Self.with([Self.form(2, screen: "page")], orphans: .restart, log: log) {
            try await $0.start("form")
        } then: { client, journey in
            let shown = try await client.get(journey)
            #expect(shown.screen == "page" && shown[member: "version"] == 2)
            #expect(try #require(shown.step) > 1)
        }
        #expect(log.lines().contains { $0.contains("\"orphaned_journeys\"") })
    }

    @Test("a journey that a rule of the new version leads elsewhere is not stuck: it goes there with its next step")
    func standingRule() async throws {
        let rule =
            #", "in_flight": "migrate", "migrations": [{"from": 1}], "#
            + #""always": [{"guard": {"has": "/shared/count"}, "target": "form2"}]"#
        try await Self.with([Self.form(1), Self.form(2, more: rule)]) { client in
            let journey = try await client.start("form")
            try await client.event("enter", on: journey)
            return journey
        } then: { client, journey in
            let shown = try await client.get(journey)
            #expect(shown[member: "status"] == "active")
            let listed = try await client.get(Paths.journeys).items.first
            #expect(listed?[string: "status"] == "active")
            let ended = try await client.event("end", on: journey)
            #expect(ended[member: "outcome"] == "done", "\(ended.text)")
        }
    }

    @Test("frames that become equal neighbours are one")
    func neighbours() async throws {
        let joined = #"""
            {"id": "form", "version": 2, "initial": "page", "owns": ["note"], "in_flight": "migrate",
             "migrations": [{"from": 1, "states": {"form": "page", "form2": "page"}}], "states": {
               "page": {"on": {"end": {"target": "done"}, "ask": {"target": "asking"}}},
               "asking": {"type": "flow", "flow": "question", "on": {"done": {}}},
               "done": {"type": "final"}}}
            """#
        try await Self.with([joined]) { client in
            let journey = try await client.start("form")
            try await client.event("next", on: journey)
            try await client.event("ask", on: journey)
            return journey
        } then: { client, journey in
            let shown = try await client.get(journey)
            #expect(shown.stack == ["page", "ask"], "\(shown.text)")
            #expect(try await client.event("answer", on: journey).stack == ["page"])
        }
    }

    @Test(
        "every frame and every coordinator counts for a version that running journeys need, and each journey once",
        arguments: [
            // The screen below is gone; then the screen below a child; then the state that started the child.
            (["next"], "\"form2\""), (["ask"], "\"form2\""), (["next", "ask"], "\"form\""),
        ])
    func census(events: [String], kept: String) async throws {
        let edited = """
            {"id": "form", "version": 1, "initial": \(kept), "states": {
               \(kept): {"on": {"end": {"target": "done"}, "ask": {"target": "asking"}}},
               "asking": {"type": "flow", "flow": "question", "on": {"done": {}}},
               "done": {"type": "final"}}}
            """
        let error = await #expect(throws: OrphanedJourneysError.self) {
            try await Self.with([edited]) { client in
                for _ in 0..<2 {
                    let journey = try await client.start("form")
                    for event in events { try await client.event(event, on: journey) }
                }
            } then: { _, _ in
            }
        }
        #expect(error?.description.hasPrefix("2 journeys need version 1 of flow form, ") == true, "\(error as Any)")
    }

    @Test("check --against tries migrations and patches on real journeys, and counts journeys")
    func against() async throws {
        let impossible = #"""
            , "in_flight": "migrate", "migrations": [{"from": 1, "patch": [{"op": "remove", "path": "/note/text"}]}]
            """#
        try await withApplication(services: try Self.services(), flows: [Self.form(1), Self.question]) { app in
            let client = try await app.newSession().client
            for isEntered in [true, false] {
                let journey = try await client.start("form")
                if isEntered { try await client.event("enter", on: journey) }
                try await client.event("next", on: journey)
                try await client.event("ask", on: journey)
            }
            let files = [
                "flows/form.json": Self.form(2, more: impossible), "flows/question.json": Self.question,
                "services/note.json": #"{"name":"note","schema":{"type":"object"},"default":{}}"#,
                "services/shared.json": #"{"name":"shared","schema":{"type":"object"},"default":{}}"#,
            ]
            try await withFolder(files) { _, folder in
                let run = try await ProgramProcess.run([
                    "check", "--flows", "\(folder)/flows", "--services", "\(folder)/services", "--against",
                    "http://127.0.0.1:\(app.adminPort)",
                ])
                #expect(run.status == 2, "\(run.output) \(run.complaints)")
                #expect(run.output.contains("form 1: 1 journey would be stuck: /note/text"), "\(run.output)")
                #expect(
                    run.output.hasSuffix(
                        "2 journeys running, 0 on screens that stay as they are, 1 would be lost\n"), "\(run.output)")
            }
            #expect(
                try await client.get(Paths.journeys).items.map { $0[member: "version"] } == [1, 1], "nothing is done")
        }
    }
}
