import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Synchronization
import Testing

@Suite("PUT, PATCH and DELETE with an Idempotency-Key on the admin listener")
struct RepeatedAdminWriteTests {
    private static func send(
        _ app: RunningApplication, _ method: String, _ path: String, _ json: String? = nil, key: String = "k"
    ) async throws -> TestResponse {
        try await app.admin().send(method, path, json: json, fields: [("Idempotency-Key", key)])
    }

    private static let ada = #"{"user_id":"ada"}"#

    @Test("a repeated sign-in gives the same token as long as that is the session's, and never another")
    func signIn() async throws {
        try await withApplication { app in
            let session = "/v1/sessions/\(try await app.newSession().id)"
            let first = try await Self.send(app, "PUT", "\(session)/user", Self.ada)
            #expect(first.status == 200)
            let again = try await Self.send(app, "PUT", "\(session)/user", Self.ada)
            #expect(again.body == first.body && again["Idempotency-Replayed"] == "true")
            let client = app.client().with(token: try #require(first[member: "token"]?.string))
            #expect(try await client.send("POST", Paths.tokens).status == 201)
            let late = try await Self.send(app, "PUT", "\(session)/user", Self.ada)
            #expect(late.status == 409 && late.code == "replay_expired" && !late.text.contains("cg_"))
            #expect(try await client.get(Paths.current).status == 200, "the session lives")
            let other = try await Self.send(app, "PUT", "\(session)/user", #"{"user_id":"bob"}"#)
            #expect(other.code == "idempotency_key_reused")
        }
    }

    @Test("a copy of a sign-out does not sign out who has signed in since")
    func signOut() async throws {
        try await withApplication { app in
            let session = "/v1/sessions/\(try await app.newSession().id)"
            for (user, marked) in [("ada", nil), ("bob", "true")] {
                try await app.admin().send("PUT", "\(session)/user", json: #"{"user_id":"\#(user)"}"#)
                let response = try await Self.send(app, "DELETE", "\(session)/user")
                #expect(response.status == 204 && response["Idempotency-Replayed"] == marked)
            }
            #expect(try await app.admin().get(session)[member: "user_id"] == "bob")
        }
    }

    @Test("a sign-in and a sign-out keep their response in their own commit")
    func oneCommit() async throws {
        let store = SteeredStore()
        let commits = Atomic(0)
        try await withApplication(store: store) { app in
            let session = "/v1/sessions/\(try await app.newSession().id)"
            store.before { call in if call == .commit { commits.wrappingAdd(1, ordering: .relaxed) } }
            #expect(try await Self.send(app, "PUT", "\(session)/user", Self.ada, key: "in").status == 200)
            #expect(commits.load(ordering: .relaxed) == 1)
            #expect(try await Self.send(app, "DELETE", "\(session)/user", key: "out").status == 204)
            #expect(commits.load(ordering: .relaxed) == 2)
        }
    }

    @Test("ends of sessions are replayed when the sessions are gone, and end no later ones")
    func ends() async throws {
        try await withApplication { app in
            let one = try await app.newSession()
            for marked in [nil, "true"] {
                let ended = try await Self.send(app, "DELETE", "/v1/sessions/\(one.id)")
                #expect(ended.status == 204 && ended["Idempotency-Replayed"] == marked)
            }
            let two = try await app.newSession()
            #expect(try await Self.send(app, "DELETE", "/v1/sessions/\(two.id)").code == "idempotency_key_reused")
            for (number, path) in ["/v1/users/ada/sessions", "/v1/sessions?user_id=ada", "/v1/sessions"].enumerated() {
                var last = try await app.newSession()
                for marked in [nil, "true"] {
                    last = try await app.newSession()
                    try await app.admin().send("PUT", "/v1/sessions/\(last.id)/user", json: Self.ada)
                    let ended = try await Self.send(app, "DELETE", path, key: "k\(number)")
                    #expect(ended.status == 200 && ended["Idempotency-Replayed"] == marked, "\(path)")
                }
                #expect(try await app.admin().get("/v1/sessions/\(last.id)").status == 200, "\(path)")
            }
        }
    }

    @Test("a session that is not there is 404, with a key as without one")
    func absent() async throws {
        try await withApplication { app in
            for id in ["ses_00000000000000000000000000000000", "nothing"] {
                for (method, path, json) in [
                    ("DELETE", "", nil), ("PUT", "/user", Self.ada), ("DELETE", "/user", nil),
                    ("PATCH", "/services/profile", "{}"),
                ] {
                    let refused = try await Self.send(app, method, "/v1/sessions/\(id)\(path)", json)
                    #expect(refused.status == 404 && refused.code == "session_not_found", "\(method) \(path)")
                }
            }
        }
    }

    @Test("a session that cannot be read is ended by a request with a key, too")
    func damaged() async throws {
        let store = SteeredStore()
        let id = try await withApplication(store: store) { try await $0.newSession().id }
        store.before { call throws(StoreError) in if call == .load { throw .damaged("torn") } }
        try await withApplication(store: store) { app in
            let refused = try await Self.send(app, "DELETE", "/v1/sessions/\(id)/user")
            #expect(refused.status == 503 && refused.code == "data_damaged")
            #expect(try await Self.send(app, "DELETE", "/v1/sessions/\(id)").status == 204)
        }
    }

    @Test("one key is one for each session, and a write of a service is done once")
    func services() async throws {
        try await withApplication { app in
            let ids = [try await app.newSession().id, try await app.newSession().id]
            for marked in [nil, "true"] {
                for id in ids {
                    let path = Paths.service("user", of: id)
                    let written = try await Self.send(
                        app, "PUT", path, #"{"id":"ada","authenticated":true,"claims":{}}"#)
                    #expect(written.status == 200 && written["Idempotency-Replayed"] == marked)
                    #expect(try await app.admin().get(path)["ETag"] == written["ETag"])
                }
            }
        }
    }
}
