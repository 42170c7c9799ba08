import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Testing

/// Two servers with one Redis: whichever is asked, the answer is the same.
@Suite("Servers that share their sessions")
struct SharedStoreTests {
    private static func withServers(
        _ body: (_ redis: RedisTestServer, _ one: ServingProgram, _ two: ServingProgram) async throws -> Void
    ) async throws {
        let redis = try RedisTestServer()
        func start() async throws -> ServingProgram {
            try await ServingProgram([
                "--store", "redis://127.0.0.1:\(redis.port)", "--set", "main_flow=wizard", "--flows", "config/flows",
                "--set", "store_grace=0s", "--services", "config/services",
            ])
        }
        let (one, two) = (try await start(), try await start())
        try await body(redis, one, two)
        for server in [one, two] { try await server.end() }
    }

    @Test("a session is everywhere as the last answer left it")
    func coherence() async throws {
        try await Self.withServers { _, one, two in
            let token = try await one.newToken()
            let clients = [one.client.with(token: token), two.client.with(token: token)]
            for number in 0..<20 {
                let (here, there) = (clients[number % 2], clients[(number + 1) % 2])
                let written = try await here.patch(Paths.profile, #"{"attributes":{"n":\#(number)}}"#)
                #expect(written.status == 200)
                let read = try await there.get(Paths.profile)
                #expect(read["ETag"] == written["ETag"])
                #expect(read[member: "attributes"]?[member: "n"]?.int == number)
                // The tag of the state before it is refused, wherever it is sent.
                if let old = try? await here.get(Paths.profile)["ETag"], number % 5 == 0 {
                    #expect(try await there.patch(Paths.profile, "{}").status == 200)
                    let refused = try await here.patch(Paths.profile, "{}", fields: [("If-Match", old)])
                    #expect(refused.status == 412)
                }
            }
            // A journey goes on at the other server.
            let begun = try await clients[0].get(Paths.main)
            let there = try await clients[1].get(Paths.main)
            #expect(there["ETag"] == begun["ETag"])
            // A user who signs out at one is signed out at the other.
            #expect(try await clients[0].send("DELETE", Paths.current).status == 204)
            #expect(try await clients[1].get(Paths.profile).status == 401)
        }
    }

    @Test("an operator at one server moves a journey of the other, and its history is the same at both")
    func operators() async throws {
        try await Self.withServers { _, one, two in
            let client = one.client.with(token: try await one.newToken())
            let id = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            let seen = try await client.get(Paths.main)
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            let journey = Paths.journey("main", of: id)
            let moved = try await two.admin.send("POST", "\(journey)/navigation", json: #"{"to":"page2"}"#)
            #expect(moved.status == 200 && moved.screen == "page2")
            #expect(try await client.event("next", on: Paths.main, fields: ifMatch(seen)).status == 412)
            #expect(try await client.event("next", on: Paths.main).screen == "page3")
            let histories = [
                try await one.admin.get("\(journey)/history"), try await two.admin.get("\(journey)/history"),
            ]
            #expect(histories[0].items == histories[1].items)
            #expect(histories[0].items.map { $0[string: "who"] } == ["client", "client", "admin", "client"])
        }
    }

    @Test("of sessions at both servers that use one link at once, one gets the journey")
    func links() async throws {
        try await Self.withServers { _, one, two in
            let source = try await one.newToken()
            let journey = try await one.client.with(token: source).start("application")
            let made = try await one.client.with(token: source).send("POST", "\(journey)/links")
            let link = try #require(made[member: "link"]?.string)
            var clients: [TestClient] = []
            for _ in 0..<4 {
                for server in [one, two] { clients.append(server.client.with(token: try await server.newToken())) }
            }
            let taken = try await withThrowingTaskGroup(of: TestResponse.self) { [clients] group in
                for client in clients {
                    group.addTask { try await client.send("POST", Paths.journeys, json: #"{"link":"\#(link)"}"#) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(taken.map(\.status).sorted() == [201] + Array(repeating: 404, count: clients.count - 1))
            for server in [one, two] {
                #expect(try await server.client.with(token: source).get(journey).code == "journey_moved")
            }
        }
    }

    @Test("a stream goes on at the other server, which tells what was missed")
    func resumed() async throws {
        try await Self.withServers { _, one, two in
            let token = try await one.newToken()
            let (here, there) = (one.client.with(token: token), two.client.with(token: token))
            let stream = try await EventReader.open(here)
            #expect(try await here.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
            _ = try await stream.next()
            let last = try #require(stream.lastID)
            let written = try await here.patch(Paths.service("quote"), #"{"author":"Alan"}"#)
            let shown = try await here.get(Paths.main)
            #expect(try await here.send("POST", Paths.main + "/events", json: #"{"event":"next"}"#).status == 200)
            let going = try await EventReader.open(there, after: last)
            #expect(going.head.status == 200 && going.lastID == last)
            var missed: [EventReader.Event] = []
            repeat { missed.append(try #require(try await going.next())) } while missed.last?.id == nil
            let changed = missed.filter { $0.name == "service.changed" }
            #expect(Set(changed.compactMap { $0["service"]?.string }) == ["quote", "coordinator"])
            #expect(changed.contains { $0["etag"]?.string == written["ETag"] })
            let moved = try #require(missed.first { $0.name == "journey.moved" })
            let now = try await there.get(Paths.main)
            #expect(moved["etag"]?.string == now["ETag"] && now["ETag"] != shown["ETag"])
            let next = try await here.patch(Paths.profile, #"{"name":"Grace"}"#)
            #expect(try await going.next()?["etag"]?.string == next["ETag"])
        }
    }

    @Test("a request that is repeated at the other server is done once")
    func idempotency() async throws {
        try await Self.withServers { _, one, two in
            let fields = [("Idempotency-Key", "0e5cbd4b-7e9f-4f1e-9f0b-3b1f8f6f3a11")]
            let first = try await one.client.send("POST", Paths.sessions, fields: fields)
            var again = try await two.client.send("POST", Paths.sessions, fields: fields)
            // The first server keeps its response behind the answer.
            while again.status == 409 { again = try await two.client.send("POST", Paths.sessions, fields: fields) }
            #expect(first.status == 201 && again.status == 201 && again["Idempotency-Replayed"] == "true")
            #expect(first[member: "token"]?.string == again[member: "token"]?.string)
            let other = try await two.client.send(
                "POST", Paths.sessions, json: #"{"labels":{"a":"b"}}"#, fields: fields)
            #expect(other.status == 422)
        }
    }
}
