import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("The event stream")
struct EventStreamTests {
    private static let stores = [Configuration.Store.memory, .sqlite("sessions.db")]

    /// Runs an application in a folder of its own.
    private func withStore(
        _ store: Configuration.Store, services: [ServiceFile] = [], flows: [String] = [],
        clock: any SessionClock = SystemClock(), _ configure: (inout Configuration) -> Void = { _ in },
        _ body: (RunningApplication) async throws -> Void
    ) async throws {
        try await withFolder([:]) { _, folder in
            try await withApplication(services: services, flows: flows, clock: clock) { configuration in
                configuration.store = store
                if case .sqlite(let name) = store { configuration.store = .sqlite("\(folder)/\(name)") }
                configure(&configuration)
            } _: {
                try await body($0)
            }
        }
    }

    @Test("tells what time does to a journey, with nobody looking", arguments: stores)
    func times(store: Configuration.Store) async throws {
        let (clock, flow) = (
            SteeredClock(),
            """
            {"id": "tea", "version": 1, "initial": "hot", "states": {
               "hot": {"timeout": {"after": "90s", "target": "cold"}}, "cold": {"timeout": "90s"}}}
            """
        )
        try await withStore(store, flows: [flow], clock: clock) { app in
            let client = try await app.newSession().client
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"tea"}"#)
            let stream = try await EventReader.open(client)
            let told = try await clock.running { try await stream.next(4) }
            #expect(told.map(\.name) == ["service.changed", "journey.moved", "service.changed", "journey.expired"])
            #expect(told.last?.data[member: "journey"] == started[member: "id"])
        }
    }

    @Test(
        "tells each committed change in order, with the revision as id and the entity tag of a GET", arguments: stores)
    func changes(store: Configuration.Store) async throws {
        try await withStore(store, flows: [TestFlows.wizard]) { app in
            let client = try await app.newSession().client
            let stream = try await EventReader.open(client)
            #expect(stream.head.status == 200 && stream.head["Content-Type"] == "text/event-stream")
            #expect(stream.head["Cache-Control"] == "no-store")
            #expect(stream.lastID == "1", "where it begins")

            let patched = try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let changed = try #require(try await stream.next())
            #expect(changed.name == "service.changed" && changed.id == "2")
            #expect(changed.data == ["revision": 2, "service": "profile", "etag": "\"2\""])
            #expect(changed["etag"]?.string == patched["ETag"])

            try await client.send("DELETE", "\(Paths.profile)/state")
            #expect(
                try await stream.next()
                    == .init(
                        name: "service.cleared", data: ["revision": 3, "service": "profile", "etag": "\"3\""], id: "3"))
            try await client.send("DELETE", Paths.profile)
            #expect(
                try await stream.next()
                    == .init(
                        name: "service.removed", data: ["revision": 4, "service": "profile", "etag": "\"0\""], id: "4"))
            #expect(try await client.get(Paths.profile)["ETag"] == "\"0\"")

            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            let id = try #require(started[member: "id"]?.string)
            let start = try await stream.next(2)
            #expect(start.map(\.name) == ["service.changed", "journey.moved"])
            #expect(start.map(\.id) == [nil, "5"], "one commit, one resume point")
            #expect(start[0]["service"] == "coordinator")
            #expect(start[1]["journey"]?.string == id && start[1]["step"] == 1)
            #expect(start[1]["etag"]?.string == started["ETag"])

            let path = Paths.journey(id)
            let sent = try await client.send(
                "POST", "\(path)/events", json: #"{"event":"sign_in","data":{"name":"Ada"}}"#)
            #expect(sent.status == 200)
            let step = try await stream.next(3)
            #expect(step.map { $0["service"]?.string } == ["profile", "coordinator", nil])
            #expect(step.last?["step"] == 2 && step.last?["etag"]?.string == sent["ETag"])
            #expect(step.map(\.id) == [nil, nil, "6"])

            // What a screen shows is a part of its tag, and no step.
            try await client.patch(Paths.profile, #"{"name":"Grace"}"#)
            #expect(try await stream.next()?["service"] == "profile")

            try await client.send("DELETE", path)
            let end = try await stream.next(2)
            #expect(end.map(\.name) == ["service.changed", "journey.abandoned"])
            #expect(end.last?["etag"] == JSONDocument.null)
        }
    }

    @Test("tells nothing of what changes nothing, of failed writes and of other sessions")
    func nothingElse() async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            let other = try await app.newSession()
            let stream = try await EventReader.open(client)
            try await client.get(Paths.profile)
            #expect(try await client.send("PUT", Paths.profile, json: "7").status == 400)
            #expect(try await client.patch(Paths.profile, "{}", fields: [("If-Match", "\"9\"")]).status == 412)
            #expect(try await other.client.patch(Paths.profile, #"{"name":"Eve"}"#).status == 200)
            #expect(try await client.patch(Paths.quote, #"{"text":"x"}"#).status == 200)
            #expect(try await stream.next()?["service"] == "quote")
            #expect(try await client.get("/v1/sessions/\(other.id)/events").code == "session_not_found")
            #expect(try await app.client().get(Paths.events).code == "unauthenticated")
        }
    }

    @Test("resumes after any commit that it still knows, whole commits only", arguments: stores)
    func resumes(store: Configuration.Store) async throws {
        try await withStore(store) { app in
            let client = try await app.newSession().client
            try await client.patch(Paths.profile, #"{"name":"before"}"#)
            let first = try await EventReader.open(client)
            #expect(first.lastID == "2")
            let transaction =
                #"{"operations":[{"op":"patch","service":"profile","value":{"name":"a"}},"#
                + #"{"op":"patch","service":"quote","value":{"text":"b"}},{"op":"remove","service":"profile"}]}"#
            #expect(try await client.send("POST", Paths.transactions, json: transaction).status == 200)
            // The first of two: what is left of the commit is missing.
            let begun = try #require(try await first.next())
            #expect(begun.id == nil && first.lastID == "2")
            first.close()
            let again = try await EventReader.open(client, after: first.lastID)
            let whole = try await again.next(2)
            #expect(whole.first == begun && whole.map(\.id) == [nil, "3"] && again.lastID == "3")
            again.close()
            let current = try await EventReader.open(client, after: "3")
            try await client.patch(Paths.profile, #"{"name":"c"}"#)
            #expect(try await current.next()?.id == "4")
            for gone in ["1", "5", "18446744073709551615"] {
                let refused = try await EventReader.open(client, after: gone)
                #expect(refused.head.status == 410, "\(gone)")
            }
            for malformed in ["x", "-1", "01", "3, 4"] {
                #expect(try await EventReader.open(client, after: malformed).head.status == 400, "\(malformed)")
            }
            #expect(try await client.get(Paths.events, fields: [("Last-Event-ID", "1")]).code == "resume_point_gone")
            #expect(try await client.get(Paths.events, fields: [("Last-Event-ID", "x")]).code == "invalid_input")
        }
    }

    @Test("forgets the history two minutes after the last reader has left, and with a restart")
    func forgets() async throws {
        let clock = SteeredClock()
        try await withFolder([:]) { _, folder in
            func configure(_ configuration: inout Configuration) {
                configuration.store = .sqlite("\(folder)/sessions.db")
            }
            let token = try await withApplication(clock: clock, configure) { app in
                let (client, _, token) = try await app.newSession()
                let stream = try await EventReader.open(client)
                try await client.patch(Paths.profile, #"{"name":"a"}"#)
                #expect(try await stream.next()?.id == "2")
                stream.close(withReset: true)
                // The server notices that the reader has gone when it sends the next change.
                while try await !app.admin().get("/metrics").text.contains("concierge_watchers 0\n") {
                    try await client.patch(Paths.profile, #"{"name":"b"}"#)
                }
                clock.advance(.seconds(121))
                try await client.patch(Paths.profile, #"{"name":"c"}"#)
                #expect(try await EventReader.open(client, after: "2").head.status == 410)
                return token
            }
            try await withApplication(clock: clock, configure) { app in
                let client = app.client().with(token: token)
                let revision = try #require(try await client.revision())
                #expect(try await EventReader.open(client, after: "\(revision - 1)").head.status == 410)
                let resumed = try await EventReader.open(client, after: "\(revision)")
                try await client.patch(Paths.profile, #"{"name":"c"}"#)
                #expect(try await resumed.next()?.id == "\(revision + 1)")
            }
        }
    }

    @Test("begins anew for an EventSource whose resume point is gone, and says so")
    func reset() async throws {
        let clock = SteeredClock()
        try await withApplication(clock: clock) { app in
            let client = try await app.newSession().client
            try await client.patch(Paths.profile, #"{"name":"a"}"#)
            let stream = try await EventReader.open(client, after: "1", isEventSource: true)
            #expect(stream.head.status == 200)
            #expect(stream.head["X-Accel-Buffering"] == "no")
            #expect(stream.head["Content-Encoding"] == "identity", "proxies leave it as it is")
            let event = try #require(try await stream.next())
            #expect(event.name == "reset" && event.id == "2" && event["revision"] == 2)
            try await client.patch(Paths.profile, #"{"name":"b"}"#)
            #expect(try await stream.next()?.name == "service.changed")
            // What is wrong for good still ends an EventSource.
            #expect(try await EventReader.open(client, after: "x", isEventSource: true).head.status == 400)
            let stranger = try await EventReader.open(app.client(), isEventSource: true)
            #expect(stranger.head.status == 401)
        }
    }

    @Test("tells an EventSource when to come back where others get 429")
    func comingBack() async throws {
        try await withApplication { configuration in
            configuration.quotas.exempt = []
            configuration.quotas.sessionRequests = Quota(count: 3, window: .seconds(3_600))
        } _: { app in
            let client = try await app.newSession().client
            while try await client.get(Paths.profile).status == 200 {}
            #expect(try await EventReader.open(client).head.status == 429)
            let answer = try await client.with("Accept", "text/event-stream").get(Paths.events)
            #expect(answer.status == 200 && answer["Content-Type"] == "text/event-stream")
            let wait = try #require(answer["Retry-After"].flatMap { Int($0) })
            let retry = try #require(answer.text.wholeMatch(of: #/retry: ([0-9]+)\n\n/#).flatMap { Int($0.1) })
            #expect((min(wait, 300) * 1_000...(min(wait, 300) * 1_000 + 2_000)).contains(retry))
        }
    }

    @Test("tells an EventSource when to come back where others get 504")
    func comingBackLater() async throws {
        let (store, release) = (SteeredStore(), Event())
        let token = try await withApplication(store: store) { try await $0.newSession().token }
        store.before { if $0 == .load { await release.wait() } }
        try await withApplication(store: store) {
            $0.timeouts.handler = .milliseconds(100)
        } _: { app in
            let client = app.client().with(token: token)
            #expect(try await EventReader.open(client).head.status == 504)
            let answer = try await client.with("Accept", "text/event-stream").get(Paths.events)
            #expect(answer.status == 200 && answer.text.hasPrefix("retry: "))
            release.happen()
        }
    }

    @Test("has a comment every 15 seconds in which nothing else happens, and says that the session lives longer")
    func heartbeat() async throws {
        let clock = SteeredClock()
        try await withSession(clock: clock) { configuration in
            configuration.sessionIdleTimeout = .seconds(86_400)
            configuration.sessionLifetime = .seconds(365 * 86_400)
        } _: { client in
            let stream = try await EventReader.open(client)
            let begin = clock.now()
            for count in 1...3 {
                #expect(try await clock.running { try await stream.block() } == .comment)
                #expect(clock.now() - begin >= 15_000 * Int64(count))
            }
            clock.advance(.seconds(7_200))
            try await client.get(Paths.profile)
            let shown = try await client.get(Paths.current)
            let extended = try #require(try await stream.next())
            #expect(extended.name == "session.extended" && extended.id == nil && stream.lastID == "1")
            #expect(extended["idle_expires_at"] == shown[member: "idle_expires_at"])
            #expect(extended["revision"] == 1)
            // At most once per touch interval.
            clock.advance(.seconds(1))
            try await client.get(Paths.profile)
            try await client.patch(Paths.profile, "{}")
            #expect(try await stream.next()?.name == "service.changed")
        }
    }

    @Test("a change that is not shown does not put the comment off")
    func hiddenHeartbeat() async throws {
        let clock = SteeredClock()
        let limit = try ServiceFile(name: "limit", schema: true, default: .emptyObject, access: .hidden)
        try await withStore(.memory, services: [limit], clock: clock) { app in
            let (client, id, _) = try await app.newSession()
            let stream = try await EventReader.open(client)
            let path = Paths.service("limit", of: id)
            for count in 1...5 {
                #expect(try await app.admin().send("PUT", path, json: #"{"most":\#(count)}"#).status == 200)
                let looks = clock.sleepCount
                clock.advance(.seconds(5))
                while clock.sleepCount == looks { await Task.yield() }
            }
            #expect(try await client.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
            #expect(try await stream.block() == .comment)
            #expect(try await stream.next()?["service"] == "profile")
        }
    }

    @Test("ends with the session, whoever or whatever ends it", arguments: ["requested", "expired", "token_reused"])
    func endsWithSession(reason: String) async throws {
        let clock = SteeredClock()
        try await withApplication(clock: clock) { configuration in
            configuration.sessionIdleTimeout = .seconds(60)
            configuration.rotationGrace = .seconds(5)
        } _: { app in
            let (client, _, token) = try await app.newSession()
            try await client.patch(Paths.profile, #"{"name":"a"}"#)
            var stream = try await EventReader.open(client)
            switch reason {
            case "requested": #expect(try await client.send("DELETE", Paths.current).status == 204)
            case "expired": break
            default:
                let new = try #require(try await client.send("POST", Paths.tokens)[member: "token"]?.string)
                stream = try await EventReader.open(app.client().with(token: new))
                clock.advance(.seconds(6))
                #expect(try await app.client().with(token: token).get(Paths.profile).status == 401)
            }
            let last = stream
            let events = try await clock.running { try await last.rest() }
            #expect(events.map(\.name).suffix(2) == ["service.removed", "session.ended"])
            #expect(events.last?["reason"]?.string == reason)
        }
    }

    @Test("ends when its token is replaced: by a sign-in, by a new token, or when the grace of an old one is over")
    func endsWithToken() async throws {
        let clock = SteeredClock()
        try await withApplication(clock: clock) { configuration in
            configuration.sessionIdleTimeout = .seconds(86_400)
            configuration.sessionLifetime = .seconds(365 * 86_400)
        } _: { app in
            let (client, id, _) = try await app.newSession()
            let stream = try await EventReader.open(client)
            let signedIn = app.client().with(token: try await app.signIn("ada", to: id))
            let events = try await stream.rest()
            #expect(events.map(\.name) == ["service.changed", "stream.closed"])
            #expect(events.last?["reason"] == "token_replaced")
            #expect(try await EventReader.open(client, after: stream.lastID).head.status == 401)

            let second = try await EventReader.open(signedIn, after: stream.lastID)
            let new = try #require(try await signedIn.send("POST", Paths.tokens)[member: "token"]?.string)
            #expect(try await second.rest().map(\.name) == ["stream.closed"])
            let third = try await EventReader.open(app.client().with(token: new))
            let old = try await EventReader.open(signedIn)
            #expect(old.head.status == 200, "within the grace")
            #expect(try await clock.running { try await old.rest() }.last?["reason"] == "token_replaced")
            try await app.client().with(token: new).patch(Paths.profile, "{}")
            #expect(try await third.next()?.name == "service.changed")
        }
    }

    @Test("ends at once when the server stops, and none begins any more")
    func stopping() async throws {
        try await withApplication { configuration in
            configuration.drainTimeout = .seconds(60)
        } _: { app in
            let client = try await app.newSession().client
            let stream = try await EventReader.open(client)
            async let stopped: Void = app.stop()
            #expect(try await stream.rest().map { $0["reason"] } == ["stopping"])
            try await stopped
        }
    }

    @Test("cuts a reader that does not read, and no other")
    func slowReader() async throws {
        try await withApplication { configuration in
            configuration.timeouts.write = .seconds(5)
            // However long this takes, no event says that the session lives longer.
            configuration.sessionIdleTimeout = .seconds(86_400)
            configuration.sessionLifetime = .seconds(86_400)
        } _: { app in
            let client = try await app.newSession().client
            let slow = try await EventReader.open(client, receiveBuffer: 4_096)
            let quick = try await EventReader.open(client)
            let names = (0..<100).map { #"{"op":"clear","service":"\#($0 % 2 == 0 ? "profile" : "quote")"}"# }
            let body = #"{"operations":[\#(names.joined(separator: ","))]}"#
            try await client.patch(Paths.profile, "{}")
            try await client.patch(Paths.quote, "{}")
            #expect(try await quick.next(2).count == 2)
            var revision = 3
            var isCut = false
            while !isCut {
                for _ in 0..<50 {
                    try await client.send("POST", Paths.transactions, json: body)
                    revision += 1
                    try #require(try await quick.next(2).last?.id == "\(revision)")
                }
                isCut = try await app.admin().get("/metrics").text.contains("concierge_watchers 1\n")
            }
            var last = try await slow.block()
            while case .event = last { last = try await slow.block() }
            #expect(last == .cut)
            #expect(slow.lastID.flatMap(Int.init) ?? 0 < revision, "it has missed some")
        }
    }

    @Test("ends when too many watch: the oldest makes room, and is told to come back later; so does one that waits")
    func displaced() async throws {
        try await withSession { configuration in
            configuration.limits.sessionStreams = 2
        } _: { client in
            let first = try await EventReader.open(client)
            let second = try await EventReader.open(client)
            let third = try await EventReader.open(client)
            let closed = EventReader.Event(name: "stream.closed", data: ["reason": "displaced"], id: nil)
            #expect(try await first.block() == .event(closed))
            #expect(try await first.block() == .end)
            let tag = try #require(try await client.get(Paths.profile)["ETag"])
            let waiting = [("If-None-Match", tag), ("Prefer", "wait=60")]
            async let displaced = client.get(Paths.profile, fields: waiting)
            #expect(try await second.next(1).map(\.name) == ["stream.closed"])
            let fourth = try await EventReader.open(client)
            #expect(try await third.next(1).map(\.name) == ["stream.closed"])
            let fifth = try await EventReader.open(client)
            #expect(try await displaced.status == 304)
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            for stream in [fourth, fifth] { #expect(try await stream.next(1).map(\.name) == ["service.changed"]) }
        }
    }

    @Test("many that watch one session are told of every write, in order, however fast they follow each other")
    func many() async throws {
        try await withSession { client in
            var streams: [EventReader] = []
            for _ in 0..<12 { streams.append(try await EventReader.open(client)) }
            for number in 0..<50 { try await client.patch(Paths.profile, #"{"name":"\#(number)"}"#) }
            for stream in streams {
                let events = try await stream.next(50)
                #expect(events.map(\.id) == (2...51).map { "\($0)" })
            }
        }
    }

    @Test("loses nothing and doubles nothing under many writers, also for a reader that is cut again and again")
    func exactly() async throws {
        try await withStore(.sqlite("sessions.db")) { app in
            let client = try await app.newSession().client
            let (writers, writes) = (8, 25)
            let streams = [
                try await EventReader.open(client), try await EventReader.open(client),
                try await EventReader.open(client),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        for write in 0..<writes {
                            try await client.patch(Paths.profile, #"{"name":"\#(writer)-\#(write)"}"#)
                        }
                    }
                }
                let all = (2...(1 + writers * writes)).map { "\($0)" }
                for stream in streams {
                    group.addTask {
                        let events = try await stream.next(all.count)
                        #expect(events.map(\.id) == all)
                        #expect(events.allSatisfy { $0["etag"]?.string == $0.id.map { "\"\($0)\"" } })
                    }
                }
                group.addTask {
                    var ids: [String?] = []
                    var stream = try await EventReader.open(client, after: "1")
                    while ids.count < all.count {
                        ids += try await stream.next(min(7, all.count - ids.count)).map(\.id)
                        stream.close(withReset: ids.count % 2 == 0)
                        if ids.count < all.count { stream = try await EventReader.open(client, after: stream.lastID) }
                    }
                    #expect(ids == all)
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("is there for a cookie, for a client of HTTP/1.0, and has no body for HEAD")
    func forms() async throws {
        try await withApplication { app in
            let created = try await app.client().send("POST", Paths.sessions, json: #"{"mode":"cookie"}"#)
            let pair = String((created["Set-Cookie"] ?? "").prefix { $0 != ";" })
            let client = app.client().with("Cookie", pair)
            #expect(try await EventReader.open(client).lastID == "1")
            #expect(try await client.send("HEAD", Paths.events)["Content-Type"] == "text/event-stream")
            let old = String(decoding: client.request("GET", Paths.events), as: UTF8.self)
                .replacing("HTTP/1.1", with: "HTTP/1.0")
            async let answer = client.send(Array(old.utf8), "GET", Paths.events)
            #expect(try await client.send("DELETE", Paths.current, fields: [("Sec-Fetch-Site", "none")]).status == 204)
            let text = try await answer.text
            #expect(text.prefixMatch(of: #/retry: [1-5]\d{3}\nid: 1\n\n/#) != nil || text.contains("unauthenticated"))
        }
    }
}
