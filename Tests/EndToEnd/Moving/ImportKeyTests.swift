import JSONDocument
import Sessions
import Support
import Synchronization
import Testing

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

    @Test("one that had to stop, or was no export, goes on with the same key")
    func stopped() async throws {
        let text = try await Self.export()
        let store = SteeredStore()
        let isFull = Mutex(true)
        let created = Atomic<Int>(0)
        store.before { call throws(StoreError) in
            guard call == .create, isFull.withLock({ $0 }) else { return }
            if created.wrappingAdd(1, ordering: .relaxed).oldValue >= 150 { throw .full("no room") }
        }
        try await withApplication(store: store) { app in
            let path = "/v1/imports"
            #expect(try await app.admin().send("POST", path, json: "{}", fields: Self.fields("k")).status == 400)
            #expect(try await app.admin().send("POST", path, json: text, fields: Self.fields("k")).status == 507)
            isFull.withLock { $0 = false }
            let again = try await app.admin().send("POST", path, json: text, fields: Self.fields("k"))
            #expect(again.status == 200 && again["Idempotency-Replayed"] == nil)
            #expect(again[member: "imported"] == 50 && again[member: "skipped"] == 150)
        }
    }
}
