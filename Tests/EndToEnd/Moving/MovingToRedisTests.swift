import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Testing

/// With programs as an operator runs them.
@Suite("Moving from SQLite to Redis and back")
struct MovingToRedisTests {
    /// A session, and every entity tag that its services and its journey have had.
    private struct Client {
        let token: String
        let journey: String
        var tags: [String: Set<String>] = [:]

        static let paths = [Paths.profile, Paths.service("temporary-profile"), Paths.user]

        /// What a client sees.
        func look(at server: ServingProgram) async throws -> [String] {
            let client = server.client.with(token: token)
            var seen: [String] = []
            for path in Self.paths + [journey] {
                let answer = try await client.get(path)
                seen.append("\(answer.status) \(answer["ETag"] ?? "-") \(answer.text)")
            }
            let session = try await client.get(Paths.current)
            return seen
                + ["id", "created_at", "expires_at", "revision", "labels", "user_id"].map { name in
                    "\(name): \(session[member: name].map { "\($0)" } ?? "-")"
                }
        }

        /// Changes all that can be changed. No entity tag may come back.
        mutating func write(_ number: Int, at server: ServingProgram) async throws {
            let client = server.client.with(token: token)
            for path in [Paths.profile, Paths.service("temporary-profile")] {
                let answer = try await client.patch(path, #"{"attributes":{"n":\#(number)}}"#)
                #expect(answer.status == 200, "\(answer.text)")
                note(answer["ETag"], of: path)
            }
            let moved = try await client.event("go", on: journey)
            #expect(moved.status == 200, "\(moved.text)")
            note(moved["ETag"], of: journey)
        }

        private mutating func note(_ tag: String?, of path: String) {
            #expect(tags[path, default: []].insert(tag ?? "-").inserted, "\(path) has \(tag ?? "-") again")
        }
    }

    /// One journey moves, the other waits for a back end.
    private static let flows = [
        "walk.json": """
        {"id": "walk", "version": 1, "initial": "one", "states": {
           "one": {"on": {"go": {"target": "two"}}},
           "two": {"on": {"go": {"target": "one", "nav": "pop_to"}}}}}
        """,
        // The task is still to be done after all the moving.
        "login.json": TaskFlows.login.replacing(#""timeout": "20s""#, with: #""timeout": "1h""#),
    ]

    @Test("there and back everything is the same, tasks wait for their back end, and no entity tag comes again")
    func thereAndBack() async throws {
        try await withFolder(Self.flows) { _, folder in
            let redis = try RedisTestServer()
            let old = try await Self.start("sqlite:\(folder)/old.db", flows: folder)
            var clients: [Client] = []
            for number in 0..<20 {
                clients.append(try await Self.newClient(number, at: old))
                for turn in 0..<3 { try await clients[number].write(turn, at: old) }
            }
            // One waits for a back end.
            let waiting = old.client.with(token: clients[0].token)
            let login = try await waiting.start("login")
            try await waiting.event("submit", TaskFlows.submit, on: login)

            let shared = try await Self.start("redis://127.0.0.1:\(redis.port)", flows: folder)
            try await shared.take(from: old, sessions: clients.count)
            try await Self.compare(clients, old, shared)
            // Another server with that Redis has the same.
            let second = try await Self.start("redis://127.0.0.1:\(redis.port)", flows: folder)
            try await Self.compare(clients, shared, second)
            for place in clients.indices {
                try await clients[place].write(100, at: place % 2 == 0 ? shared : second)
                try await clients[place].write(200, at: shared)
            }
            let back = try await Self.start("sqlite:\(folder)/back.db", flows: folder)
            try await back.take(from: second, sessions: clients.count)
            try await Self.compare(clients, second, back)
            for place in clients.indices { try await clients[place].write(300, at: back) }

            // What is imported again after an end goes on from higher tags.
            let ended = back.client.with(token: clients[1].token)
            #expect(try await ended.send("DELETE", Paths.current).status == 204)
            try await back.take(from: old, sessions: 1)
            try await clients[1].write(400, at: back)

            // The back end does the task where its journey is.
            let task = try #require(try await back.admin.claim("check-password").first)
            #expect(task[member: "input"] == ["name": "ada", "password": "secret"])
            let result = try await back.admin.post("result", of: task, #"{"outcome":"ok","output":{"name":"Ada"}}"#)
            #expect(result.status == 204)
            #expect(try await back.client.with(token: clients[0].token).get(login).screen == "home")
            for server in [old, shared, second, back] { try await server.end() }
        }
    }

    private static func start(_ store: String, flows: String) async throws -> ServingProgram {
        try await ServingProgram(["--store", store, "--flows", flows, "--services", "config/services"])
    }

    private static func compare(_ clients: [Client], _ one: ServingProgram, _ other: ServingProgram) async throws {
        for client in clients {
            let there = try await client.look(at: other)
            #expect(try await client.look(at: one) == there)
        }
    }

    private static func newClient(_ number: Int, at server: ServingProgram) async throws -> Client {
        let created = try await server.client.send("POST", Paths.sessions)
        var token = try #require(created[member: "token"]?.string)
        if number % 2 == 0 {
            let id = try #require(created[member: "session"]?[string: "id"])
            let signedIn = try await server.admin.send(
                "PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"user-\#(number)","claims":{"n":\#(number)}}"#)
            token = try #require(signedIn[member: "token"]?.string)
        }
        let client = server.client.with(token: token)
        try await client.patch(Paths.current, #"{"labels":{"n":"\#(number)"}}"#)
        return Client(token: token, journey: try await client.start("walk"))
    }
}

extension ServingProgram {
    /// Imports all of another server's sessions.
    fileprivate func take(from other: ServingProgram, sessions: Int) async throws {
        let export = try await other.admin.send("POST", "/v1/exports")
        let report = try await admin.send(
            "POST", "/v1/imports", json: export.text, fields: [("Content-Type", "application/x-ndjson")])
        #expect(report[member: "complete"] == true && report[member: "imported"]?.int == sessions, "\(report.text)")
    }
}
