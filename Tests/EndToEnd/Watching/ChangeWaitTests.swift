import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Waiting for a change")
struct ChangeWaitTests {
    private static func fields(_ tag: String?, wait: String = "wait=30") -> [(name: String, value: String)] {
        [("If-None-Match", tag ?? "\"0\""), ("Prefer", wait)]
    }

    /// Returns when so many clients wait.
    private static func waitUntil(_ count: Int, watchIn app: RunningApplication) async throws {
        while try await !app.admin().get("/metrics").text.contains("concierge_watchers \(count)\n") {
            await Task.yield()
        }
    }

    @Test("a GET waits until its service has another version, whatever else happens in the session")
    func service() async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            async let waiting = client.get(Paths.profile, fields: Self.fields("\"0\""))
            try await Self.waitUntil(1, watchIn: app)
            try await client.patch(Paths.quote, #"{"text":"x"}"#)
            #expect(try await app.admin().get("/metrics").text.contains("concierge_watchers 1\n"), "it still waits")
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let changed = try await waiting
            #expect(changed.status == 200 && changed["ETag"] == "\"3\"")
            #expect(changed["Preference-Applied"] == "wait=30")
            #expect(changed[member: "name"] == "Ada")
            // What the client does not know comes at once.
            let known = try await client.get(Paths.profile, fields: Self.fields("\"0\"", wait: "wait=60"))
            #expect(known.status == 200 && known["Preference-Applied"] == "wait=60")
        }
    }

    @Test("or the time is over: 304. More than a minute counts as a minute")
    func timeout() async throws {
        let clock = SteeredClock()
        try await withSession(clock: clock) { configuration in
            configuration.sessionIdleTimeout = .seconds(86_400)
            configuration.sessionLifetime = .seconds(86_400)
        } _: { client in
            for (wait, applied) in [("wait=30", "30"), (#"return=minimal, Wait="7""#, "7"), ("wait=1000;x=y", "60")] {
                let begin = clock.now()
                let answer = try await clock.running {
                    try await client.get(Paths.profile, fields: Self.fields("\"0\"", wait: wait))
                }
                #expect(answer.status == 304 && answer["ETag"] == "\"0\"")
                #expect(answer["Preference-Applied"] == "wait=\(applied)")
                #expect(clock.now() - begin >= (Int64(applied) ?? 0) * 1_000)
            }
        }
    }

    @Test(
        "the preference alone, or one that is no number, changes nothing",
        arguments: ["wait", "wait=x", "wait=-1", "waits=3", "respond-async"])
    func notApplied(preference: String) async throws {
        try await withSession { client in
            let answer = try await client.get(Paths.profile, fields: Self.fields("\"0\"", wait: preference))
            #expect(answer.status == 304 && answer["Preference-Applied"] == nil)
            let other = try await client.get(Paths.profile, fields: [("Prefer", "wait=30")])
            #expect(other.status == 200 && other["Preference-Applied"] == nil)
        }
    }

    @Test("a journey changes with its step, with a service on its screen, and with time", arguments: [false, true])
    func journey(includesSchemas: Bool) async throws {
        let clock = SteeredClock()
        try await withApplication(flows: [TestFlows.wizard], clock: clock) { configuration in
            configuration.sessionIdleTimeout = .seconds(86_400)
            configuration.sessionLifetime = .seconds(86_400)
        } _: { app in
            let client = try await app.newSession().client
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            let path = Paths.journey(started[member: "id"]?.string ?? "")
            let shown = path + (includesSchemas ? "?include=schema" : "")
            async let first = client.get(shown, fields: Self.fields(started["ETag"]))
            try await Self.waitUntil(1, watchIn: app)
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let written = try await first
            #expect(written.status == 200 && written[member: "step"] == 1)
            #expect(written[member: "screen"]?[member: "data"]?[member: "profile"]?[member: "name"] == "Ada")
            #expect(written["Preference-Applied"] == "wait=30")

            async let second = client.get(shown, fields: Self.fields(written["ETag"]))
            try await Self.waitUntil(1, watchIn: app)
            try await client.send("POST", "\(path)/events", json: #"{"event":"skip"}"#)
            let moved = try await second
            #expect(moved.status == 200 && moved[member: "step"] == 2)

            // It expires after half an hour, without a write.
            clock.advance(.seconds(1_790))
            let expired = try await clock.running { try await client.get(shown, fields: Self.fields(moved["ETag"])) }
            #expect(expired.status == 200 && expired[member: "status"] == "expired")
        }
    }

    @Test("a service whose lifetime ends is another one, without a write")
    func lifetime() async throws {
        let clock = SteeredClock()
        let services = [try ServiceFile(name: "cart", lifetime: .seconds(20))]
        try await withSession(services: services, clock: clock) { client in
            let written = try await client.send("PUT", Paths.service("cart"), json: #"{"items":[1]}"#)
            let over = try await clock.running {
                try await client.get(Paths.service("cart"), fields: Self.fields(written["ETag"]))
            }
            #expect(over.status == 200 && over["ETag"] == "\"0\"")
            // Time has done what it could: from now on only a write changes it.
            let sleeps = clock.sleepCount
            let still = try await clock.running {
                try await client.get(Paths.service("cart"), fields: Self.fields(over["ETag"], wait: "wait=60"))
            }
            #expect(still.status == 304)
            #expect(clock.sleepCount - sleeps < 1_000, "it looks again and again")
        }
    }

    @Test("a wait ends when a timer comes, and when it comes at another time")
    func timer() async throws {
        let flow = """
            {"id": "trip", "version": 1, "initial": "booked", "states": {"booked": {
               "on": {"go": {"target": "booked", "nav": "replace"}},
               "timers": [{"at": "/profile/attributes/departs_at",
                           "actions": [{"op": "add", "path": "/profile/name", "value": "Gone"}]}]}}}
            """
        let clock = SteeredClock()
        try await withApplication(flows: [flow], clock: clock) { app in
            let client = try await app.newSession().client
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"trip"}"#)
            let path = Paths.journey(started[member: "id"]?.string ?? "")
            #expect(started[member: "due_at"]?.isNull == true)
            async let first = client.get(path, fields: Self.fields(started["ETag"]))
            try await Self.waitUntil(1, watchIn: app)
            // The clock stands at 2023-11-14T22:13:20Z.
            try await client.patch(Paths.profile, #"{"attributes":{"departs_at":"2023-11-14T23:13:40+01:00"}}"#)
            let dated = try await first
            #expect(dated.status == 200 && dated[member: "step"] == started[member: "step"])
            #expect(dated[member: "due_at"] == "2023-11-14T22:13:40.000Z")
            let taken = try await clock.running { try await client.get(path, fields: Self.fields(dated["ETag"])) }
            #expect(taken.status == 200 && taken[member: "step"] == 2 && taken[member: "due_at"]?.isNull == true)
            #expect(try await client.get(Paths.profile)[member: "name"] == "Gone")
        }
    }

    @Test("a client that asks only for what is new is told what time has done, too")
    func polling() async throws {
        let flow = """
            {"id": "short", "version": 1, "initial": "one", "states": {
               "one": {"timeout": {"after": "30s", "target": "two"}, "on": {"next": {"target": "two"}}},
               "two": {"on": {"again": {"target": "one"}}}}}
            """
        let clock = SteeredClock()
        try await withSession(flows: [flow], clock: clock) { client in
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"short"}"#)
            let journey = Paths.journey(started[member: "id"]?.string ?? "")
            let known = [("If-None-Match", started["ETag"] ?? "")]
            #expect(try await client.get(journey, fields: known).status == 304)
            clock.advance(.seconds(31))
            let moved = try await client.get(journey, fields: known)
            #expect(moved.status == 200 && moved[member: "screen"]?[member: "id"] == "two", "\(moved.text)")
        }
    }

    @Test(
        "what changes after a sign-in is not for who waits with the old token; who waits at the end of a session, 401")
    func ends() async throws {
        try await withApplication { app in
            let (client, id, _) = try await app.newSession()
            async let waiting = client.get(Paths.user, fields: Self.fields("\"0\""))
            try await Self.waitUntil(1, watchIn: app)
            let signedIn = app.client().with(token: try await app.signIn("ada", to: id))
            #expect(try await waiting.status == 304)
            async let last = signedIn.get(Paths.profile, fields: Self.fields("\"0\""))
            try await Self.waitUntil(1, watchIn: app)
            try await signedIn.send("DELETE", Paths.current)
            #expect(try await last.code == "unauthenticated")
        }
    }

    @Test("a client that leaves is not waited for, and a server that stops responds at once")
    func leaving() async throws {
        try await withApplication { configuration in
            configuration.drainTimeout = .seconds(60)
        } _: { app in
            let client = try await app.newSession().client
            let request = client.request("GET", Paths.profile, fields: Self.fields("\"0\""))
            let port = app.publicPort
            let connection = try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send(request)
                return Box(connection)
            }
            try await Self.waitUntil(1, watchIn: app)
            connection.content.close(withReset: true)
            try await Self.waitUntil(0, watchIn: app)
            async let waiting = client.get(Paths.profile, fields: Self.fields("\"0\""))
            try await Self.waitUntil(1, watchIn: app)
            async let stopped: Void = app.stop()
            #expect(try await waiting.status == 304)
            try await stopped
        }
    }

    /// One task uses it after the other.
    private struct Box: @unchecked Sendable {
        let content: RawConnection

        init(_ content: RawConnection) { self.content = content }
    }
}
