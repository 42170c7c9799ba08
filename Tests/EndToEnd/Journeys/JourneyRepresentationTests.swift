import Configuration
import JSONDocument
import Support
import Testing

/// Whether 304 is answered exactly when a client has what it would be given.
@Suite("What journeys look like, and 304")
struct JourneyRepresentationTests {
    /// Whoever gives it up takes the name away.
    private static let forgetting = """
        {"id": "forgetting", "version": 1, "initial": "a",
         "exit": [{"op": "replace", "path": "/profile/name", "value": "nobody"}],
         "states": {"a": {"on": {"end": {"target": "z"}}}, "z": {"type": "final"}}}
        """

    /// The outer flow has no screen of its own, and its event an end.
    private static let stay = [
        """
        {"id": "stay", "version": 1, "initial": "inner",
         "on": {"leave": {"target": "left", "guard": {"compare": ["/now", "<", {"value": "2023-11-14T22:14:00.000Z"}]}}},
         "states": {"inner": {"type": "flow", "flow": "room", "on": {"done": {"target": "left"}}},
                    "left": {"type": "final"}}}
        """,
        """
        {"id": "room", "version": 1, "initial": "bed",
         "states": {"bed": {"on": {"sleep": {"target": "gone"}}}, "gone": {"type": "final"}}}
        """,
    ]

    private static func withFlows(
        clock: SteeredClock = SteeredClock(), services: [ServiceFile] = [],
        _ body: (TestClient) async throws -> Void
    ) async throws {
        try await withApplication(
            services: services, flows: [TestFlows.wizard, Self.forgetting] + Self.stay, clock: clock
        ) {
            $0.sessionIdleTimeout = .seconds(7200)
        } _: { app in
            try await body(try await app.newSession().client)
        }
    }

    /// What GET answers to somebody who has that entity tag.
    private static func status(_ client: TestClient, _ journey: String, knowing tag: String?) async throws -> Int {
        try await client.get(journey, fields: [("If-None-Match", try #require(tag))]).status
    }

    private static func tag(_ client: TestClient, _ journey: String) async throws -> String? {
        try await client.get(journey)["ETag"]
    }

    @Test("two journeys are 304 side by side, until what both show is written")
    func twoJourneys() async throws {
        try await Self.withFlows { client in
            let one = try await client.start("wizard")
            let other = try await client.start("wizard")
            let tag = try await Self.tag(client, one)
            let otherTag = try await Self.tag(client, other)
            #expect(try await Self.status(client, one, knowing: tag) == 304)
            #expect(try await Self.status(client, other, knowing: otherTag) == 304)
            let moved = try await client.event("sign_in", #"{"name":"Ada"}"#, on: other)
            #expect(
                try await Self.status(client, one, knowing: tag) == 200,
                "it shows the profile, which that has written")
            #expect(try await Self.status(client, other, knowing: moved["ETag"]) == 304)
            let next = try await client.event("next", on: other)
            #expect(try await Self.status(client, other, knowing: next["ETag"]) == 304)
            #expect(try await Self.status(client, one, knowing: tag) == 200)
        }
    }

    @Test("a service with a lifetime is not in the way of 304, nor is its end where it is not shown")
    func lifetime() async throws {
        let clock = SteeredClock()
        let notes = try ServiceFile(name: "notes", lifetime: .seconds(60))
        try await Self.withFlows(clock: clock, services: [notes]) { client in
            try await client.patch(Paths.service("notes"), #"{"a":1}"#)
            let journey = try await client.start("wizard")
            let tag = try await Self.tag(client, journey)
            #expect(try await Self.status(client, journey, knowing: tag) == 304)
            try await client.patch(Paths.quote, #"{"text":"x"}"#)
            #expect(try await Self.status(client, journey, knowing: tag) == 304)
            clock.advance(.seconds(61))
            #expect(try await Self.status(client, journey, knowing: tag) == 304)
        }
    }

    @Test("giving up another journey is seen when it changes what is shown")
    func abandoned() async throws {
        try await Self.withFlows { client in
            let other = try await client.start("forgetting")
            let journey = try await client.start("wizard")
            let tag = try #require(try await client.event("sign_in", #"{"name":"Ada"}"#, on: journey)["ETag"])
            #expect(try await Self.status(client, journey, knowing: tag) == 304)
            #expect(try await client.send("DELETE", other).status == 204)
            let changed = try await client.get(journey, fields: [("If-None-Match", tag)])
            #expect(changed.status == 200)
            #expect(changed[member: "screen"]?[member: "data"]?[member: "profile"]?[string: "name"] == "nobody")
        }
    }

    @Test("a journey that shows much is 304 like any other, and never for what it looked like in between")
    func large() async throws {
        try await Self.withFlows { client in
            let much = String(repeating: "x", count: 6000)
            let journey = try await client.start("wizard")
            try await client.patch(Paths.profile, #"{"attributes":{"note":"\#(much)"}}"#)
            let first = try await Self.tag(client, journey)
            try await client.patch(Paths.profile, #"{"attributes":{"note":null}}"#)
            #expect(try await Self.status(client, journey, knowing: first) == 200, "another form had the tag")
            try await client.patch(Paths.profile, #"{"attributes":{"note":"\#(much)"}}"#)
            let tag = try await client.event("sign_in", #"{"name":"Ada"}"#, on: journey)["ETag"]
            #expect(try await Self.status(client, journey, knowing: tag) == 304)
            try await client.patch(Paths.quote, #"{"text":"x"}"#)
            #expect(try await Self.status(client, journey, knowing: tag) == 304)
        }
    }

    @Test("going to where the journey stands shows it, too: the tag was given out for that")
    func navigated() async throws {
        try await Self.withFlows { client in
            let journey = try await client.start("wizard")
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let shown = try await client.send("POST", "\(journey)/navigation", json: #"{"to":"start"}"#)
            #expect(shown["ETag"] == (try await Self.tag(client, journey)))
            #expect(shown[member: "path"] == [])
            try await client.patch(Paths.profile, #"{"name":""}"#)
            #expect(try await Self.status(client, journey, knowing: shown["ETag"]) == 200)
        }
    }

    @Test("an event of an outer flow without screens of its own closes when its time is over")
    func outerFlowLooksAtTime() async throws {
        let clock = SteeredClock()
        try await Self.withFlows(clock: clock) { client in
            let journey = try await client.start("stay")
            func isOpen() async throws -> JSONDocument? {
                let events = try await client.get(journey)[member: "events"]?.elements ?? []
                return events.first { $0[string: "name"] == "leave" }?[member: "enabled"]
            }
            let tag = try await Self.tag(client, journey)
            #expect(try await isOpen() == true)
            clock.advance(.seconds(60))
            #expect(try await isOpen() == false)
            #expect(try await Self.status(client, journey, knowing: tag) == 200)
        }
    }
}
