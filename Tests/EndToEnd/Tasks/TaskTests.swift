import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("Tasks, fetched by a back end")
struct TaskTests {
    enum Store: CaseIterable { case memory, sqlite }

    /// A journey on the first screen of the login.
    private static func withLogin(
        _ store: Store = .memory, clock: any SessionClock = SteeredClock(),
        _ body: (RunningApplication, TestClient, TestClient, String) async throws -> Void
    ) async throws {
        try await withFolder([:]) { _, folder in
            try await withApplication(flows: [TaskFlows.login], clock: clock) {
                if store == .sqlite { $0.store = .sqlite("\(folder)/sessions.db") }
            } _: { app in
                let client = try await app.newSession().client
                try await body(app, client, app.admin(), try await client.start("login"))
            }
        }
    }

    @Test("a step and its task are one commit; its result is a step, with its output", arguments: Store.allCases)
    func wholeWay(store: Store) async throws {
        try await Self.withLogin(store) { app, client, admin, journey in
            #expect(try await admin.claim("check-password").isEmpty)
            let busy = try await client.event("submit", TaskFlows.submit, on: journey)
            #expect(busy[member: "screen"]?[string: "status"] == "busy")
            #expect(busy[member: "screen"]?[string: "title"] == "One moment")
            #expect(busy[member: "can_go_back"] == false)
            let task = try #require(try await admin.claim("check-password").first)
            #expect(task[string: "task"] == "check-password" && task[member: "attempt"] == 1)
            #expect(task[member: "input"] == ["name": "ada", "password": "secret"])
            let session = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            #expect(task[member: "session"] == ["id": JSONDocument(session), "user_id": nil])
            #expect(task[member: "journey"]?[string: "flow"] == "login")
            #expect(task[member: "journey"]?[member: "version"] == 1 && task[member: "journey"]?[member: "step"] == 2)
            #expect(isTimestamp(task[string: "lease_expires_at"]))
            // Nobody else gets it.
            #expect(try await admin.claim("check-password").isEmpty)
            #expect(
                try await admin.post("result", of: task, #"{"outcome":"ok","output":{"name":"Ada"}}"#).status == 204)
            let home = try await client.get(journey)
            #expect(home.screen == "home" && home.step == 3 && home.stack == ["password", "home"])
            #expect(home[member: "screen"]?[member: "data"]?[member: "profile"]?[string: "name"] == "Ada")
            // Going back never finds the busy screen.
            #expect(try await client.event("back", on: journey).screen == "password")
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
        }
    }

    @Test("a task outlives its session's token: its result is taken, and operators see it", arguments: Store.allCases)
    func outlives(store: Store) async throws {
        let clock = SteeredClock()
        try await Self.withLogin(store, clock: clock) { _, client, admin, journey in
            try await client.event("ask", on: journey)
            let id = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            let task = try #require(try await admin.claim("slow", lease: "1h").first)
            clock.advance(.seconds(1_800))
            #expect(try await client.get(Paths.current).status == 401)
            let listed = try await admin.get("/v1/sessions?active=false").items
            #expect(listed.map { $0[string: "id"] } == [id] && isTimestamp(listed.first?[string: "kept_until"]))
            #expect(try await admin.get("/v1/sessions?active=true").items.isEmpty)
            #expect(try await admin.post("result", of: task, #"{"outcome":"ok"}"#).status == 204)
            let journeys = try await admin.get("/v1/sessions/\(id)/journeys").items
            #expect(journeys.map { $0[member: "screen"]?[string: "id"] } == ["home"])
            #expect(try await client.get(journey).status == 401)
            let signIn = try await admin.send("PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"eve"}"#)
            #expect(signIn.status == 404)
            #expect(try await admin.send("DELETE", "/v1/sessions/\(id)").status == 204)
            #expect(try await admin.post("result", of: task, #"{"outcome":"ok"}"#).status == 410)
        }
    }

    @Test("a result for a task that is over is 410 and changes nothing", arguments: Store.allCases)
    func takenOnce(store: Store) async throws {
        try await Self.withLogin(store) { _, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            let task = try #require(try await admin.claim("check-password").first)
            // A result that the flow has no transition for leaves the task as it is.
            let unknown = try await admin.post("result", of: task, #"{"outcome":"perhaps"}"#)
            #expect(unknown.status == 400 && unknown.pointers == ["/outcome"])
            #expect(try await admin.post("result", of: task, #"{"outcome":"wrong"}"#).status == 204)
            let before = try await client.get(journey).text
            for (what, json) in [
                ("result", #"{"outcome":"ok","output":{"name":"x"}}"#), ("failure", #"{"reason":"x"}"#),
                ("lease", #"{"lease":"9s"}"#),
            ] {
                let refused = try await admin.post(what, of: task, json)
                #expect(refused.status == 410 && refused.code == "task_over", "\(what)")
            }
            #expect(try await client.get(journey).text == before)
            // The next task of the same state is another one.
            try await client.event("submit", TaskFlows.submit, on: journey)
            #expect(try await admin.post("result", of: task, #"{"outcome":"wrong"}"#).status == 410)
            #expect(try await client.get(journey).screen == "checking")
        }
    }

    @Test(
        "a task that was never there is 404",
        arguments: ["x", "tsk-1-main-2", "tsk-\(String(repeating: "0", count: 32))-main-02"])
    func unknown(id: String) async throws {
        try await Self.withLogin { _, _, admin, _ in
            let answer = try await admin.send("POST", "/v1/tasks/\(id)/result", json: #"{"outcome":"ok"}"#)
            #expect(answer.status == 404 && answer.code == "task_not_found")
        }
    }

    @Test(
        "a lease that ends counts as an attempt: the task is handed out again, and fails after the last",
        arguments: Store.allCases)
    func leases(store: Store) async throws {
        let clock = SteeredClock()
        try await Self.withLogin(store, clock: clock) { _, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            for attempt in 1...3 {
                let task = try #require(try await admin.claim("check-password", lease: "3s").first)
                #expect(task[member: "attempt"]?.int == attempt)
                clock.advance(.seconds(3))
            }
            #expect(try await admin.claim("check-password").isEmpty)
            // The sweeper sees to it once a second.
            try await Self.awaiting("sorry", journey, client, clock)
            let sorry = try await client.get(journey)
            #expect(sorry.text.contains("The lease of the last attempt ended without a result."))
        }
    }

    private static func awaiting(
        _ screen: String, _ journey: String, _ client: TestClient, _ clock: SteeredClock
    ) async throws {
        for _ in 0..<500 {
            if try await client.get(journey).screen == screen { return }
            clock.advance(.milliseconds(100))
        }
        Issue.record("the journey never came to \(screen)")
    }

    @Test(
        "a failure is tried again after the time that the flow says, or the back end; after the last one the journey goes on by done.failed",
        arguments: Store.allCases)
    func failures(store: Store) async throws {
        let clock = SteeredClock()
        try await Self.withLogin(store, clock: clock) { _, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            var task = try #require(try await admin.claim("check-password").first)
            #expect(try await admin.post("failure", of: task, #"{"reason":"no answer"}"#).status == 204)
            #expect(try await admin.post("lease", of: task, #"{"lease":"9s"}"#).code == "task_not_claimed")
            clock.advance(.milliseconds(1_999))
            #expect(try await admin.claim("check-password").isEmpty)
            clock.advance(.milliseconds(1))
            task = try #require(try await admin.claim("check-password").first)
            #expect(try await admin.post("failure", of: task, #"{"reason":"no answer"}"#).status == 204)
            clock.advance(.milliseconds(3_999))
            #expect(try await admin.claim("check-password").isEmpty)
            clock.advance(.milliseconds(1))
            task = try #require(try await admin.claim("check-password").first)
            #expect(task[member: "attempt"] == 3)
            #expect(try await admin.post("failure", of: task, #"{"reason":"gave up"}"#).status == 204)
            let sorry = try await client.get(journey)
            #expect(sorry.screen == "sorry")
            #expect(sorry[member: "screen"]?[member: "data"]?[member: "profile"]?[string: "name"] == "gave up")
        }
    }

    @Test("a worker whose lease is over neither fails nor extends the attempt of another one")
    func lateWorker() async throws {
        let clock = SteeredClock()
        try await Self.withLogin(clock: clock) { _, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            let first = try #require(try await admin.claim("check-password", lease: "5s").first)
            clock.advance(.seconds(5))
            let second = try #require(try await admin.claim("check-password", lease: "5s").first)
            #expect(second[member: "attempt"] == 2)
            let failure = try await admin.post("failure", of: first, #"{"reason":"late","attempt":1}"#)
            #expect(failure.status == 409 && failure.code == "task_not_claimed")
            #expect(try await admin.post("lease", of: first, #"{"lease":"60s","attempt":1}"#).status == 409)
            clock.advance(.seconds(4))
            #expect(try await admin.claim("check-password").isEmpty, "the second lease runs as before")
            #expect(try await admin.post("result", of: second, #"{"outcome":"wrong"}"#).status == 204)
            #expect(try await client.get(journey).screen == "password")
        }
    }

    @Test("retry_after takes the place of the flow's time, and a lease can be extended")
    func times() async throws {
        let clock = SteeredClock()
        try await Self.withLogin(clock: clock) { _, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            var task = try #require(try await admin.claim("check-password", lease: "5s").first)
            clock.advance(.seconds(4))
            let lease = try await admin.post("lease", of: task, #"{"lease":"5s"}"#)
            #expect(lease.status == 200 && isTimestamp(lease[member: "lease_expires_at"]?.string))
            clock.advance(.seconds(4))
            #expect(try await admin.claim("check-password").isEmpty)
            #expect(try await admin.post("failure", of: task, #"{"reason":"x","retry_after":"10s"}"#).status == 204)
            clock.advance(.seconds(9))
            #expect(try await admin.claim("check-password").isEmpty)
            clock.advance(.seconds(1))
            task = try #require(try await admin.claim("check-password").first)
            #expect(task[member: "attempt"] == 2)
        }
    }

    @Test(
        "when the time is over the journey goes on by done.timeout, and the result comes too late",
        arguments: Store.allCases)
    func timeout(store: Store) async throws {
        let clock = SteeredClock()
        try await Self.withLogin(store, clock: clock) { _, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            let task = try #require(try await admin.claim("check-password", lease: "60s").first)
            clock.advance(.seconds(20))
            #expect(try await admin.post("result", of: task, #"{"outcome":"ok","output":{"name":"x"}}"#).status == 410)
            #expect(try await client.get(journey).screen == "sorry")
        }
    }

    @Test("a task that nobody fetches is over when its time is, without anybody asking")
    func unfetched() async throws {
        let clock = SteeredClock()
        try await Self.withLogin(clock: clock) { _, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            clock.advance(.seconds(20))
            for _ in 0..<500 where try await !admin.get("/v1/tasks").items.isEmpty { clock.advance(.milliseconds(100)) }
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
            #expect(try await client.get(journey).screen == "sorry")
        }
    }

    @Test(
        "leaving the journey takes its task along: by back, an event, starting over, giving up, and the session's end",
        arguments: Store.allCases)
    func leaving(store: Store) async throws {
        try await Self.withLogin(store) { app, client, admin, journey in
            let ways: [(TestClient) async throws -> TestResponse] = [
                { try await $0.event("back", on: journey) }, { try await $0.event("ask", on: journey) },
                { try await $0.send("PUT", journey, json: "{}") }, { try await $0.event("cancel", on: journey) },
                { try await $0.send("PUT", journey, json: "{}") }, { try await $0.send("DELETE", journey) },
            ]
            for (number, leave) in ways.enumerated() where number != 1 && number != 4 {
                if number == 5 { _ = try await ways[4](client) }
                try await client.event("ask", on: journey)
                let task = try #require(try await admin.claim("slow").first)
                #expect(try await leave(client).status < 300)
                #expect(try await admin.get("/v1/tasks").items.isEmpty, "\(number)")
                #expect(try await admin.post("result", of: task, #"{"outcome":"ok"}"#).status == 410)
                if number == 3 { _ = try await ways[2](client) }
            }
            let other = try await client.start("login")
            try await client.event("ask", on: other)
            let task = try #require(try await admin.claim("slow").first)
            #expect(try await client.send("DELETE", Paths.current).status == 204)
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
            #expect(try await admin.post("result", of: task, #"{"outcome":"ok"}"#).status == 410)
        }
    }

    @Test("signing out ends the task of a journey that the user has moved", arguments: Store.allCases)
    func signedOut(store: Store) async throws {
        try await Self.withLogin(store) { app, _, admin, _ in
            let session = try await app.newSession().id
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            let journey = try await client.start("login")
            try await client.event("ask", on: journey)
            let task = try #require(try await admin.claim("slow").first)
            #expect(try await admin.send("DELETE", "/v1/sessions/\(session)/user").status == 204)
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
            #expect(try await admin.post("result", of: task, #"{"outcome":"ok"}"#).status == 410)
        }
    }

    @Test("a caller waits for a task, and gets it when it begins", arguments: Store.allCases)
    func longPoll(store: Store) async throws {
        // A clock that stands still: nothing but the new task can end the wait.
        try await Self.withLogin(store) { app, client, admin, journey in
            async let waiting = admin.claim("check-password", wait: "20s")
            async let other = admin.claim("slow", wait: "20s")
            try await client.event("submit", TaskFlows.submit, on: journey)
            #expect(try await waiting.count == 1)
            let second = try await client.start("login")
            try await client.event("ask", on: second)
            #expect(try await other.count == 1)
        }
    }

    @Test("a caller that waits gets a task that comes due meanwhile: after a failure, and when a lease ends")
    func awaitedDue() async throws {
        let clock = SteeredClock()
        try await Self.withLogin(clock: clock) { app, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            let task = try #require(try await admin.claim("check-password", lease: "4s").first)
            let waiting = Task { try await admin.claim("check-password", lease: "3s", wait: "20s") }
            _ = try await admin.post("failure", of: task, #"{"reason":"x"}"#)
            try await clock.running {
                let second = try await waiting.value
                #expect(second.first?[member: "attempt"] == 2)
                let third = try await admin.claim("check-password", lease: "30s", wait: "20s")
                #expect(third.first?[member: "attempt"] == 3)
            }
        }
    }

    @Test("a wait that is in vain ends with no tasks, and a server that stops lets nobody wait")
    func vainWait() async throws {
        let clock = SteeredClock()
        var waiting: Task<[JSONDocument], any Error>?
        try await Self.withLogin(clock: clock) { app, client, admin, journey in
            let vain = try await clock.running { try await admin.claim("nothing", wait: "5s") }
            #expect(vain.isEmpty)
            waiting = Task { try await admin.claim("nothing", wait: "20s") }
            // The wait has begun when a later request on the same worker is answered.
            for _ in 0..<20 { _ = try await admin.get("/v1/stats") }
        }
        #expect(try await waiting?.value == [])
    }

    @Test("tasks are listed by name and status, page by page")
    func listing() async throws {
        try await Self.withLogin { app, client, admin, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            for _ in 0..<3 { try await client.event("ask", on: try await client.start("login")) }
            _ = try await admin.claim("slow")
            let all = try await admin.get("/v1/tasks").items
            #expect(all.count == 4)
            let one = try #require(all.first { $0[string: "task"] == "check-password" })
            #expect(one[string: "status"] == "waiting" && one[member: "attempt"] == 0 && one[member: "attempts"] == 3)
            #expect(isTimestamp(one[string: "created_at"]) && one[member: "lease_expires_at"] == .null)
            #expect(try await admin.get("/v1/tasks?task=slow").items.count == 3)
            let claimed = try await admin.get("/v1/tasks?status=claimed").items
            #expect(claimed.count == 1 && isTimestamp(claimed[0][string: "lease_expires_at"]))
            let first = try await admin.get("/v1/tasks?limit=3")
            let next = try #require(first[member: "next"]?.string)
            #expect(try await admin.get("/v1/tasks?limit=3&cursor=\(next)").items.count == 1)
            #expect(try await admin.get("/v1/tasks?status=gone").status == 400)
            #expect(try await admin.get("/v1/tasks?cursor=x").status == 400)
        }
    }

    @Test(
        "what a claim may say is checked",
        arguments: [
            ("{}", "/task"), (#"{"task":"x","max":0}"#, "/max"), (#"{"task":"x","max":101}"#, "/max"),
            (#"{"task":"x","lease":"0s"}"#, "/lease"), (#"{"task":"x","lease":30}"#, "/lease"),
            (#"{"task":"x","wait":"2m"}"#, "/wait"), (#"{"task":"x","until":1}"#, "/until"),
        ])
    func checked(json: String, pointer: String) async throws {
        try await Self.withLogin { _, _, admin, _ in
            let answer = try await admin.send("POST", "/v1/tasks/claims", json: json)
            #expect(answer.status == 400 && answer.pointers == [pointer])
        }
    }

    @Test("the user of the session is in the task")
    func user() async throws {
        try await Self.withLogin { app, _, admin, _ in
            let (_, id, _) = try await app.newSession()
            let client = app.client().with(token: try await app.signIn("ada", to: id))
            try await client.event("ask", on: try await client.start("login"))
            let task = try #require(try await admin.claim("slow").first)
            #expect(task[member: "session"] == ["id": JSONDocument(id), "user_id": "ada"])
        }
    }

    @Test("a server that restarts goes on: the task is there, its attempts are counted, and a result finds it")
    func restart() async throws {
        try await withFolder([:]) { _, folder in
            let configure = { (configuration: inout Configuration) in
                configuration.store = .sqlite("\(folder)/sessions.db")
            }
            let clock = SteeredClock()
            let (token, journey, task) = try await withApplication(flows: [TaskFlows.login], clock: clock, configure) {
                app in
                let (client, _, token) = try await app.newSession()
                let journey = try await client.start("login")
                try await client.event("submit", TaskFlows.submit, on: journey)
                let task = try #require(try await app.admin().claim("check-password", lease: "5s").first)
                return (token, journey, task)
            }
            try await withApplication(flows: [TaskFlows.login], clock: clock, configure) { app in
                #expect(try await app.admin().claim("check-password").isEmpty)
                clock.advance(.seconds(5))
                let again = try #require(try await app.admin().claim("check-password").first)
                #expect(again[string: "id"] == task[string: "id"] && again[member: "attempt"] == 2)
                // At least once: the one who had it first may be the one who brings the result.
                #expect(try await app.admin().post("result", of: task, #"{"outcome":"wrong"}"#).status == 204)
                #expect(try await app.admin().post("result", of: again, #"{"outcome":"wrong"}"#).status == 410)
                let client = app.client().with(token: token)
                #expect(try await client.get(journey).screen == "password")
            }
        }
    }

    @Test("an export carries tasks: they are handed out where it is imported")
    func exported() async throws {
        let lines = try await withApplication(flows: [TaskFlows.login]) { app in
            let client = try await app.newSession().client
            try await client.event("submit", TaskFlows.submit, on: try await client.start("login"))
            _ = try await app.admin().claim("check-password")
            return try await app.admin().send("POST", "/v1/exports").text
        }
        try await withApplication(flows: [TaskFlows.login]) { app in
            let admin = app.admin()
            for _ in 0..<2 {
                let report = try await admin.send(
                    "POST", "/v1/imports?on_conflict=replace", json: lines,
                    fields: [("Content-Type", "application/x-ndjson")])
                #expect(report[member: "imported"] == 1, "\(report.text)")
                #expect(try await admin.get("/v1/tasks").items.count == 1)
                let task = try #require(try await admin.claim("check-password").first)
                #expect(task[member: "input"]?[string: "name"] == "ada" && task[member: "attempt"] == 1)
            }
        }
    }
}
