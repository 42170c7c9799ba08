import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Testing

@Suite("Finding journeys")
struct FindingTests {
    private static func found(_ app: RunningApplication, _ query: String) async throws -> [JSONDocument] {
        let response = try await app.admin().get("/v1/journeys\(query)")
        #expect(response.status == 200, "\(response.text)")
        return response.items
    }

    @Test("an item says where the journey stands, since when and whose it is, and nothing of its data")
    func item() async throws {
        try await withWizard { app, _ in
            let (_, id, _) = try await app.newSession()
            let client = app.client().with(token: try await app.signIn("ada", to: id))
            let view = try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main).json
            let items = try await Self.found(app, "?flow=wizard&version=1&state=page1&status=active&user_id=ada")
            #expect(items.count == 1)
            let item = try #require(items.first)
            for (name, value) in [
                ("session", JSONDocument(id)), ("user_id", "ada"), ("journey", "main"), ("flow", "wizard"),
                ("version", 1), ("state", "page1"), ("status", "active"),
                ("url", JSONDocument("/v1/sessions/\(id)/journeys/main")),
            ] {
                #expect(item[member: name] == value, "\(name)")
            }
            for name in ["started_at", "expires_at", "due_at"] {
                #expect(item[member: name] == view[member: name], "\(name)")
            }
            #expect(isTimestamp(item[string: "last_step_at"]))
            #expect(item.members?.count == 12)
            for query in ["?flow=order", "?version=2", "?state=start&user_id=ada", "?status=busy", "?user_id=eve"] {
                #expect(try await Self.found(app, query).isEmpty, "\(query)")
            }
            try await client.event("cancel", on: Paths.main)
            let over = try #require(try await Self.found(app, "?status=finished").first)
            #expect(over[member: "state"] == .null && over[member: "expires_at"] == .null)
        }
    }

    @Test("pages have every journey once, and labels and ages choose among them")
    func pages() async throws {
        try await withWizard { app, client in
            #expect(try await client.patch(Paths.current, #"{"labels":{"plan":"gold:1"}}"#).status == 200)
            for _ in 0..<3 { _ = try await client.start("wizard") }
            for _ in 0..<2 { _ = try await app.newSession().client.start("wizard") }
            var (seen, cursor) = (Set<String>(), "")
            repeat {
                let page = try await app.admin().get("/v1/journeys?flow=wizard&limit=2\(cursor)")
                #expect(page.items.count <= 2)
                for item in page.items {
                    #expect(seen.insert("\(item[string: "session"] ?? "") \(item[string: "journey"] ?? "")").inserted)
                }
                cursor = page[member: "next"]?.string.map { "&cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
            #expect(seen.count == 5)
            #expect(try await Self.found(app, "?label=plan:gold%3A1").count == 3)
            #expect(try await Self.found(app, "?label=plan:").isEmpty)
            #expect(try await Self.found(app, "?older_than=1h").isEmpty)
            #expect(try await Self.found(app, "?older_than=0s").count == 5)
        }
    }

    @Test(
        "what is not a filter is refused, with its name",
        arguments: [
            ("status=waiting", "/status"), ("version=0", "/version"), ("version=x", "/version"),
            ("label=gold", "/label"),
            ("older_than=soon", "/older_than"), ("limit=0", "/limit"), ("limit=101", "/limit"), ("screen=a", "/screen"),
            ("flow=a&flow=b", "/flow"),
        ])
    func refused(_ query: String, _ pointer: String) async throws {
        try await withWizard { app, _ in
            let response = try await app.admin().get("/v1/journeys?\(query)")
            #expect(response.status == 400 && response.code == "invalid_input")
            #expect(response.text.contains(#""pointer":"\#(pointer)""#), "\(response.text)")
        }
    }

    @Test(
        "a text that no page gave is no cursor",
        arguments: ["x", "ses_00000000000000000000000000000000", "ses_00000000000000000000000000000000-x", "-main"])
    func cursors(_ cursor: String) async throws {
        try await withWizard { app, _ in
            let response = try await app.admin().get("/v1/journeys?cursor=\(cursor)")
            #expect(response.status == 400 && response.code == "invalid_input")
        }
    }

    @Test("metrics count the journeys and tasks of all sessions, also right after a start")
    func metrics() async throws {
        try await withFolder([:]) { _, folder in
            let configure = { (configuration: inout Configuration) in
                configuration.store = .sqlite("\(folder)/sessions.db")
                configuration.mainFlow = "wizard"
            }
            let flows = [TestFlows.wizard, TaskFlows.login]
            try await withApplication(flows: flows, configure) { app in
                for _ in 0..<20 { _ = try await app.newSession().client.get(Paths.main) }
                let client = try await app.newSession().client
                _ = try await client.event("submit", TaskFlows.submit, on: try await client.start("login"))
            }
            try await withApplication(flows: flows, configure) { app in
                let text = try await app.admin().get("/metrics").text
                for line in [
                    #"concierge_journeys{flow="wizard",state="start",status="active"} 20"#,
                    "concierge_journeys_live 21",
                    #"concierge_journeys{flow="login",state="checking",status="busy"} 1"#,
                    "concierge_sessions_stored 21",
                    #"concierge_tasks{task="check-password",status="waiting"} 1"#,
                    #"concierge_tasks{task="check-password",status="held"} 0"#,
                ] {
                    #expect(text.contains("\n\(line)\n"), "\(line)\n\(text)")
                }
                #expect(text.contains("\nconcierge_tasks_age_seconds{task=\"check-password\"} "))
                let statistics = try await app.admin().get("/v1/stats")
                #expect(statistics[member: "journeys"]?[member: "live"] == 21)
            }
        }
    }

    private func eventually(_ isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while try await !isTrue(), .now < end {}
        #expect(try await isTrue())
    }

    @Test("a server finds what another has done within a second or two, and what one has done that has crashed")
    func servers() async throws {
        let redis = try RedisTestServer()
        func start() async throws -> ServingProgram {
            try await ServingProgram([
                "--store", "redis://127.0.0.1:\(redis.port)", "--set", "main_flow=wizard", "--flows", "config/flows",
                "--set", "store_grace=0s", "--services", "config/services",
            ])
        }
        let (one, two) = (try await start(), try await start())
        let client = one.client.with(token: try await one.newToken())
        _ = try await client.get(Paths.main)
        func count(_ query: String) async throws -> Int {
            try await two.admin.get("/v1/journeys?\(query)").items.count
        }
        try await eventually { try await count("flow=wizard&state=start") == 1 }
        #expect(try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main).status == 200)
        try await eventually { try await count("flow=wizard&state=start") == 0 }
        try await eventually { try await count("flow=wizard&state=page1") == 1 }
        #expect(try await client.event("back", on: Paths.main).status == 200)
        one.process.send(SIGKILL)
        _ = try await one.process.result()
        // The walk through all sessions comes by.
        try await eventually { try await count("flow=wizard&state=start") == 1 }
        try await two.end()
    }
}
