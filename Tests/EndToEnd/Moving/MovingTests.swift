import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Synchronization
import Testing

@Suite("Exports and imports")
struct MovingTests {
    private static let lines = [(name: "Content-Type", value: "application/x-ndjson")]

    /// An export of so many sessions.
    private static func export(sessions count: Int) async throws -> String {
        try await withApplication { app in
            for _ in 0..<count {
                let (client, _, _) = try await app.newSession()
                try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            }
            let answer = try await app.admin().send("POST", "/v1/exports")
            #expect(answer.status == 200 && answer.isWhole && answer["Content-Type"] == "application/x-ndjson")
            return answer.text
        }
    }

    @Test("what is damaged, breaks off or is something else is said to be so, and the rest is kept")
    func damaged() async throws {
        let text = try await Self.export(sessions: 10)
        var damaged = text.split(separator: "\n").map(String.init)
        damaged[4] = damaged[4].replacing("Ada", with: "Eva")
        try await withApplication { app in
            let first = try await app.admin().send(
                "POST", "/v1/imports", json: damaged.joined(separator: "\n") + "\n", fields: Self.lines)
            #expect(first[member: "imported"] == 9 && first[member: "refused"] == 1)
            #expect(first[member: "complete"] == false)
            let error = try first.json[member: "errors"]?[0]
            #expect(error?[member: "line"]?.int == 5 && error?[member: "pointer"]?.string == "/sum")
            let half = try await app.admin().send(
                "POST", "/v1/imports", json: String(text.prefix(text.utf8.count / 2)), fields: Self.lines)
            #expect(half[member: "imported"] == 1 && half[member: "complete"] == false)
            let whole = try await app.admin().send("POST", "/v1/imports", json: text, fields: Self.lines)
            #expect(whole[member: "imported"] == 0 && whole[member: "skipped"] == 10)
            #expect(whole[member: "complete"] == true)
            let foreign = try await app.admin().send(
                "POST", "/v1/imports", json: #"{"hello":"world"}"# + "\n" + text, fields: Self.lines)
            #expect(foreign.status == 400 && foreign[member: "code"] == "not_an_export")
            #expect(try foreign.json[member: "report"]?[member: "imported"]?.int == 0)
            #expect(try await app.admin().get("/v1/sessions").items.count == 10)
        }
    }

    @Test(
        "what cannot be asked for is refused",
        arguments: [
            "/v1/imports?on_conflict=merge", "/v1/imports?dry_run=1", "/v1/imports?what=1", "/v1/exports?after=x",
            "/v1/exports?cursor=x", "/v1/imports?dry_run=true&dry_run=true", "/v1/exports",
        ])
    func refused(path: String) async throws {
        try await withApplication { app in
            let isImport = path.hasPrefix("/v1/imports")
            let key = path.contains("?") ? [] : [(name: "Idempotency-Key", value: "k")]
            let answer = try await app.admin().send(
                "POST", path, json: isImport ? "{}\n" : nil, fields: (isImport ? Self.lines : []) + key)
            #expect(answer.status == 400)
            #expect(answer.code == (key.isEmpty ? "invalid_input" : "idempotency_key_not_possible"))
        }
    }

    @Test("of another type is refused, and without the admin's key everything is")
    func notAllowed() async throws {
        try await withApplication(setting: \.admin.key, to: Secret("0123456789abcdef0123456789abcdef")) { app in
            for path in ["/v1/exports", "/v1/imports"] {
                let withoutKey = try await app.admin().send("POST", path, json: "{}", fields: Self.lines)
                #expect(withoutKey.status == 401)
                let atPublic = try await app.client().send("POST", path, json: "{}", fields: Self.lines)
                #expect(atPublic.status == 404)
            }
            let admin = app.admin().with("X-Admin-Key", "0123456789abcdef0123456789abcdef")
            #expect(try await admin.send("POST", "/v1/imports", json: "{}").status == 415)
        }
    }

    private static let stops: [(error: StoreError, status: Int, code: String)] = [
        (.full("no room"), 507, "storage_full"), (.unavailable("gone"), 503, "store_unavailable"),
    ]

    @Test(
        "an import that the store stops is answered with what became of it, and goes on when it is sent again",
        arguments: stops.indices)
    func full(index: Int) async throws {
        let stop = Self.stops[index]
        let text = try await Self.export(sessions: 300)
        let store = SteeredStore()
        let isFull = Mutex(true)
        let created = Atomic<Int>(0)
        store.before { call throws(StoreError) in
            guard call == .create, isFull.withLock({ $0 }) else { return }
            if created.wrappingAdd(1, ordering: .relaxed).oldValue >= 150 { throw stop.error }
        }
        try await withApplication(store: store) { app in
            let stopped = try await app.admin().send("POST", "/v1/imports", json: text, fields: Self.lines)
            #expect(stopped.status == stop.status && stopped.code == stop.code)
            let report = try stopped.json[member: "report"]
            #expect(report?[member: "read"]?.int == 150)
            #expect(report?[member: "imported"]?.int == 150 && report?[member: "complete"]?.bool == false)
            isFull.withLock { $0 = false }
            let again = try await app.admin().send("POST", "/v1/imports", json: text, fields: Self.lines)
            #expect(again[member: "imported"] == 150 && again[member: "skipped"] == 150)
            #expect(again[member: "complete"] == true)
        }
    }

    @Test("an export that the store cannot give is 503, and one that it stops giving breaks off")
    func unavailable() async throws {
        let store = SteeredStore()
        try await withApplication(store: store) { app in
            for _ in 0..<100 { _ = try await app.newSession() }
            let lists = Atomic<Int>(0)
            store.before { call throws(StoreError) in
                if call == .list, lists.wrappingAdd(1, ordering: .relaxed).oldValue == 1 { throw .unavailable("gone") }
            }
            let broken = try await app.admin().send("POST", "/v1/exports")
            #expect(broken.status == 200 && !broken.isWhole)
            store.before { call throws(StoreError) in if call == .list { throw .unavailable("gone") } }
            #expect(try await app.admin().send("POST", "/v1/exports").status == 503)
        }
    }

    @Test("the versions of flows that came with journeys are missed when they are not there at the next start")
    func versions() async throws {
        let flows = [TestFlows.wizard]
        let text = try await withApplication(flows: flows, setting: \.mainFlow, to: "wizard") { app in
            let (client, _, _) = try await app.newSession()
            #expect(try await client.get(Paths.main).screen == "start")
            return try await app.admin().send("POST", "/v1/exports").text
        }
        try await withFolder([:]) { _, folder in
            try await withApplication(flows: flows, setting: \.store, to: .sqlite("\(folder)/sessions.db")) { app in
                let answer = try await app.admin().send("POST", "/v1/imports", json: text, fields: Self.lines)
                #expect(answer[member: "imported"] == 1)
            }
            let refused = await #expect(throws: RefusedStart.self) {
                try await withApplication({ $0.store = .sqlite("\(folder)/sessions.db") }, { _ in })
            }
            #expect(refused?.isForFlow == true)
        }
    }
}

@Suite("Imports with an Idempotency-Key")
struct ImportKeyTests {
    private static func fields(_ key: String) -> [(name: String, value: String)] {
        [("Content-Type", "application/x-ndjson"), ("Idempotency-Key", key)]
    }

    /// An export of 200 sessions.
    private static func export() async throws -> String {
        try await withApplication { app in
            for _ in 0..<200 { _ = try await app.newSession() }
            return try await app.admin().send("POST", "/v1/exports").text
        }
    }

    @Test("one that is sent again gets the first one's report, marked, and is not done again")
    func again() async throws {
        let text = try await Self.export()
        try await withApplication { app in
            let path = "/v1/imports?on_conflict=replace"
            let first = try await app.admin().send("POST", path, json: text, fields: Self.fields("k"))
            #expect(first.status == 200 && first[member: "imported"] == 200 && first[member: "complete"] == true)
            #expect(first["Idempotency-Replayed"] == nil)
            let again = try await app.admin().send("POST", path, json: text, fields: Self.fields("\"k\""))
            #expect(again["Idempotency-Replayed"] == "true")
            #expect(again.body == first.body && again["Request-Id"] != first["Request-Id"])
            let other = try await app.admin().send("POST", path, json: text, fields: Self.fields("l"))
            #expect(other[member: "replaced"] == 200)
        }
    }

    @Test("another body, or another question, is no copy of it")
    func other() async throws {
        let text = try await Self.export()
        try await withApplication { app in
            let path = "/v1/imports"
            _ = try await app.admin().send("POST", path, json: text, fields: Self.fields("k"))
            let half = String(text.prefix(text.utf8.count / 2))
            for (path, body) in [(path, half), (path, text + "\n"), (path + "?dry_run=true", text), (path, "")] {
                let answer = try await app.admin().send("POST", path, json: body, fields: Self.fields("k"))
                #expect(answer.status == 422 && answer.code == "idempotency_key_reused", "\(answer.text)")
            }
            let again = try await app.admin().send("POST", path, json: text, fields: Self.fields("k"))
            #expect(again["Idempotency-Replayed"] == "true" && again[member: "imported"] == 200)
        }
    }
}
