import Configuration
import JSONDocument
import Support
import Testing

@Suite("Expiry")
struct ExpiryTests {
    @Test(
        "with a store on disk what has expired is refused at once, and kept for an hour; a new start makes no difference"
    )
    func retained() async throws {
        let clock = SteeredClock()
        try await withFolder([:]) { _, folder in
            func configure(_ configuration: inout Configuration) {
                configuration.store = .sqlite("\(folder)/sessions.db")
                configuration.sessionIdleTimeout = .seconds(60)
            }
            func count(_ name: String, _ app: RunningApplication) async throws -> Int? {
                try await app.admin().get("/v1/stats")[member: "sessions"]?[member: name]?.int
            }
            let tokens = try await withApplication(clock: clock, configure) { app in
                let (client, id, token) = try await app.newSession()
                let other = try await app.newSession()
                clock.advance(.seconds(40))
                // It is told when the server stops.
                #expect(try await other.client.get(Paths.profile).status == 200)
                clock.advance(.seconds(20))
                #expect(try await client.get(Paths.profile).status == 401)
                #expect(try await app.admin().get("/v1/sessions/\(id)").status == 404)
                #expect(try await app.admin().get("/v1/sessions?active=false").items.map { $0[string: "id"] } == [id])
                #expect(try await count("stored", app) == 2)
                return [token, other.token]
            }
            try await withApplication(clock: clock, configure) { app in
                clock.advance(.seconds(39))
                let clients = tokens.map { app.client().with(token: $0) }
                #expect(try await clients[0].get(Paths.profile).status == 401)
                #expect(try await clients[1].get(Paths.profile).status == 200)
                clock.advance(.seconds(60))
                #expect(try await clients[1].get(Paths.profile).status == 401)
                #expect(try await count("stored", app) == 2)
                clock.advance(.seconds(3_600))
                for (name, number) in [("stored", 0), ("ended", 2)] {
                    while try await count(name, app) != number { clock.advance(.seconds(1)) }
                }
            }
        }
    }

    @Test("times in the answers follow the clock")
    func times() async throws {
        let clock = SteeredClock()
        try await withSession(clock: clock) { client in
            let first = try await client.get(Paths.current)
            #expect(first[member: "created_at"] == "2023-11-14T22:13:20.000Z")
            #expect(first[member: "idle_expires_at"] == "2023-11-14T22:43:20.000Z")
            #expect(first[member: "expires_at"] == "2023-11-15T10:13:20.000Z")
            clock.advance(.milliseconds(61_001))
            let later = try await client.get(Paths.current)
            #expect(later[member: "created_at"] == first[member: "created_at"])
            #expect(later[member: "last_used_at"] == "2023-11-14T22:14:21.001Z")
            #expect(later[member: "idle_expires_at"] == "2023-11-14T22:44:21.001Z")
            #expect(later[member: "revision"] == 1, "a use is no write")
        }
    }

    @Test(
        "sessions that nobody has used make room, also those of an earlier run and those that have left memory",
        arguments: [true, false])
    func unused(isRestarted: Bool) async throws {
        let clock = SteeredClock()
        try await withFolder([:]) { _, folder in
            func configure(_ configuration: inout Configuration) {
                configuration.store = .sqlite(folder + "/sessions.db")
                configuration.maxSessions = 4
                configuration.maxResidentBytes = 600
            }
            func begin(_ app: RunningApplication) async throws -> String {
                let (client, _, token) = try await app.newSession()
                for _ in 0..<3 { #expect(try await app.client().send("POST", Paths.sessions).status == 201) }
                clock.advance(.seconds(1))
                #expect(try await client.get(Paths.profile).status == 200)
                #expect(try await app.client().send("POST", Paths.sessions).status == 503)
                return token
            }
            func fill(_ app: RunningApplication, _ first: String) async throws {
                for number in 1...3 {
                    // The sweeper comes by in its own time, on another thread.
                    var answer = try await app.client().send("POST", Paths.sessions)
                    for _ in 0..<10_000 where answer.status == 503 {
                        clock.advance(.seconds(1))
                        answer = try await app.client().send("POST", Paths.sessions)
                    }
                    let token = try #require(answer[member: "token"]?.string, "\(number)")
                    clock.advance(.milliseconds(1))
                    #expect(try await app.client().with(token: token).get(Paths.profile).status == 200)
                }
                #expect(try await app.client().with(token: first).get(Paths.profile).status == 200)
                let metrics = try await app.admin().get("/metrics").text
                #expect(metrics.contains("\nconcierge_sessions_shed_total 3\n"))
            }
            if isRestarted {
                let first = try await withApplication(clock: clock, configure) { try await begin($0) }
                clock.advance(.seconds(10))
                try await withApplication(clock: clock, configure) { try await fill($0, first) }
            } else {
                try await withApplication(clock: clock, configure) { app in
                    let first = try await begin(app)
                    clock.advance(.seconds(10))
                    try await fill(app, first)
                }
            }
        }
    }
}
