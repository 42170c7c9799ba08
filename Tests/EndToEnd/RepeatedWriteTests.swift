import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Synchronization
import Testing

@Suite("PUT, PATCH and DELETE with an Idempotency-Key")
struct RepeatedWriteTests {
    /// A request that changes something. `{journey}` in its path is a journey of the session.
    struct Write: CustomTestStringConvertible, Sendable {
        let method, path: String
        var json: String?
        var type: String?

        init(_ method: String, _ path: String, _ json: String? = nil, type: String? = nil) {
            (self.method, self.path, self.json, self.type) = (method, path, json, type)
        }

        var testDescription: String { "\(method) \(path)" }

        func send(
            _ client: TestClient, key: String = "k", to journey: String = "", json other: String? = nil
        ) async throws -> TestResponse {
            try await client.send(
                method, path.replacing("{journey}", with: journey), json: other ?? json,
                fields: [("Idempotency-Key", key)] + (type.map { [("Content-Type", $0)] } ?? []))
        }
    }

    private static let notes = Paths.service("notes")
    private static let adding = Write(
        "PATCH", notes, #"[{"op":"add","path":"/-","value":1}]"#, type: "application/json-patch+json")
    private static let labelling = Write("PATCH", Paths.current, #"{"labels":{"device":"phone"}}"#)
    private static let restarting = Write("PUT", "{journey}", #"{"flow":"wizard"}"#)

    private static let writes = [
        adding, Write("PUT", notes, "[1, 2]"), Write("PATCH", Paths.profile, #"{"name":"Ada"}"#),
        Write("DELETE", "\(notes)/state"), Write("DELETE", notes), Write("DELETE", Paths.services),
        Write("PUT", "{journey}/services/profile", #"{"name":"Ada"}"#),
        Write("PATCH", "{journey}/services/profile", #"{"name":"Ada"}"#),
        Write("DELETE", "{journey}/services/profile"), labelling, restarting,
        Write("PUT", "{journey}?include=schema", #"{"flow":"wizard"}"#), Write("DELETE", "{journey}"),
    ]

    private static func with(
        store: Configuration.Store = .memory, _ body: (RunningApplication) async throws -> Void
    ) async throws {
        try await withApplication(
            services: [try ServiceFile(name: "notes", default: [])], flows: [TestFlows.wizard], setting: \.store,
            to: store, body)
    }

    @Test("a copy gets the first response, marked, and changes nothing", arguments: writes)
    func replayed(write: Write) async throws {
        try await Self.with { app in
            let client = try await app.newSession().client
            let journey = try await client.start("wizard")
            try await client.send("PUT", Self.notes, json: "[0]")
            let first = try await write.send(client, to: journey)
            #expect(200..<300 ~= first.status && first["Idempotency-Replayed"] == nil, "\(first.text)")
            // A write in between does not make it another request.
            try await client.send("PUT", Self.notes, json: "[7]")
            let revision = try await client.revision()
            let again = try await write.send(client, to: journey)
            #expect(again.status == first.status && again["Idempotency-Replayed"] == "true")
            #expect(again.body == first.body && again["ETag"] == first["ETag"])
            #expect(try await client.revision() == revision)
            #expect(try await client.get(Self.notes).json == [7])
            let other = try await write.send(client, to: journey, json: #"{"labels":null}"#)
            #expect(other.status == 422 && other.code == "idempotency_key_reused")
            #expect(try await client.revision() == revision)
        }
    }

    @Test("the response is in the commit of what it responds to, so no kill comes in between", arguments: writes)
    func oneCommit(write: Write) async throws {
        let store = SteeredStore()
        let commits = Atomic(0)
        let notes = try ServiceFile(name: "notes", default: [])
        try await withSession(services: [notes], flows: [TestFlows.wizard], store: store) { client in
            let journey = try await client.start("wizard")
            try await client.send("PUT", Self.notes, json: "[0]")
            store.before { call in if call == .commit { commits.wrappingAdd(1, ordering: .relaxed) } }
            #expect(200..<300 ~= (try await write.send(client, to: journey).status))
            #expect(commits.load(ordering: .relaxed) == 1)
            #expect(try await write.send(client, to: journey)["Idempotency-Replayed"] == "true")
            #expect(commits.load(ordering: .relaxed) == 1)
        }
    }

    @Test("a JSON Patch that adds to an array adds once, also over a restart, and so does all the rest")
    func restart() async throws {
        let writes = [Self.adding, Self.labelling, Self.restarting]
        try await withFolder([:]) { _, folder in
            let store = Configuration.Store.sqlite("\(folder)/concierge.db")
            var (token, journey, first): (String, String, [TestResponse]) = ("", "", [])
            try await Self.with(store: store) { app in
                let session = try await app.newSession()
                token = session.token
                journey = try await session.client.start("wizard")
                for (number, write) in writes.enumerated() {
                    first.append(try await write.send(session.client, key: "k\(number)", to: journey))
                }
            }
            try await Self.with(store: store) { app in
                let client = app.client().with(token: token)
                for (number, write) in writes.enumerated() {
                    let again = try await write.send(client, key: "k\(number)", to: journey)
                    #expect(again["Idempotency-Replayed"] == "true" && again.body == first[number].body)
                }
                #expect(try await client.get(Self.notes).json == [1])
                // A person who has gone on meanwhile is not sent back to the first screen.
                try await client.event("sign_in", #"{"name":"Ada"}"#, on: journey)
                _ = try await Self.restarting.send(client, key: "k2", to: journey)
                #expect(try await client.get(journey).screen == "page1")
            }
        }
    }

    @Test("If-Match that was right the first time is not 412 for a copy; one that was wrong may be sent with another")
    func conditions() async throws {
        try await withSession { client in
            func patch(_ tag: String, _ key: String) async throws -> TestResponse {
                try await client.patch(
                    Paths.profile, #"{"name":"Ada"}"#, fields: [("Idempotency-Key", key), ("If-Match", tag)])
            }
            let first = try await patch("\"0\"", "k")
            #expect(first.status == 200)
            let again = try await patch("\"0\"", "k")
            #expect(again.status == 200 && again["Idempotency-Replayed"] == "true" && again["ETag"] == first["ETag"])
            #expect(try await patch("\"0\"", "l").status == 412)
            let tag = try #require(first["ETag"])
            let right = try await patch(tag, "l")
            #expect(right.status == 200 && right["Idempotency-Replayed"] == nil)
        }
    }

    @Test("while the first is being handled a copy is 409 with Retry-After; afterwards it gets the response")
    func inProgress() async throws {
        let store = SteeredStore()
        try await withSession(store: store) { client in
            let (reached, go) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            let write = Write("PUT", Paths.quote, #"{"text":"a","author":"b"}"#)
            store.before { call async throws(StoreError) in
                guard call == .commit else { return }
                reached.continuation.finish()
                for await _ in go.stream {}
            }
            async let first = write.send(client)
            for await _ in reached.stream {}
            let early = try await write.send(client)
            #expect(early.status == 409 && early.code == "request_in_progress" && early["Retry-After"] == "1")
            #expect(try await write.send(client, json: "{}").status == 422)
            store.before(nil)
            go.continuation.finish()
            #expect(try await first.status == 200)
            #expect(try await write.send(client)["Idempotency-Replayed"] == "true")
        }
    }

    @Test("a repeated end of the session is 401, as for any token that has ended")
    func end() async throws {
        try await Self.with { app in
            let client = try await app.newSession().client
            let write = Write("DELETE", Paths.current)
            #expect(try await write.send(client).status == 204)
            let again = try await write.send(client)
            #expect(again.status == 401 && again["Idempotency-Replayed"] == nil)
        }
    }

    @Test("sessions that begin after the user has ended all others are not ended by a copy of that")
    func endOthers() async throws {
        try await Self.with { app in
            func session() async throws -> TestClient {
                let new = try await app.newSession()
                return app.client().with(token: try await app.signIn("ada", to: new.id))
            }
            let (one, two) = (try await session(), try await session())
            let write = Write("DELETE", Paths.sessions)
            #expect(try await write.send(one)[member: "count"] == 1)
            #expect(try await two.get(Paths.current).status == 401)
            let three = try await session()
            let again = try await write.send(one)
            #expect(again[member: "count"] == 1 && again["Idempotency-Replayed"] == "true")
            #expect(try await three.get(Paths.current).status == 200)
            // The key is the session's, not the address's.
            let others = try await write.send(three)
            #expect(others[member: "count"] == 1 && others["Idempotency-Replayed"] == nil)
            #expect(try await one.get(Paths.current).status == 401)
        }
    }

    @Test("the end of one session of the user is no response for that of another")
    func endOfAnother() async throws {
        try await Self.with { app in
            let sessions = [try await app.newSession(), try await app.newSession(), try await app.newSession()]
            var tokens: [String] = []
            for session in sessions { tokens.append(try await app.signIn("ada", to: session.id)) }
            let clients = tokens.map { app.client().with(token: $0) }
            let one = Write("DELETE", "/v1/sessions/\(sessions[1].id)")
            for marked in [nil, "true"] {
                let ended = try await one.send(clients[0])
                #expect(ended.status == 204 && ended["Idempotency-Replayed"] == marked)
            }
            for path in ["/v1/sessions/\(sessions[2].id)", Paths.current] {
                #expect(try await Write("DELETE", path).send(clients[0]).code == "idempotency_key_reused")
            }
            #expect(try await clients[2].get(Paths.current).status == 200)
            #expect(try await clients[0].get(Paths.current).status == 200)
        }
    }

    @Test("a guest's key is known after the sign-in, and not to the next user")
    func signIn() async throws {
        try await Self.with { app in
            let (guest, id, _) = try await app.newSession()
            let first = try await Self.adding.send(guest)
            #expect(first.status == 200)
            let ada = app.client().with(token: try await app.signIn("ada", to: id))
            #expect(try await Self.adding.send(guest).status == 401)
            let again = try await Self.adding.send(ada)
            #expect(again["Idempotency-Replayed"] == "true" && again.body == first.body)
            #expect(try await ada.get(Self.notes).json == [1])
            #expect(try await Self.adding.send(ada, json: "[]").code == "idempotency_key_reused")
            #expect(try await Self.adding.send(ada, key: "hers")["Idempotency-Replayed"] == nil)
            let bob = app.client().with(token: try await app.signIn("bob", to: id))
            #expect(try await Self.adding.send(bob, key: "hers")["Idempotency-Replayed"] == nil)
        }
    }
}
