import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Journeys that go on in another session")
struct GoingOnElsewhereTests {
    static let trip = #"""
        {"id": "trip", "version": 1, "initial": "a", "portable": true,
         "states": {"a": {"on": {"next": {"target": "b"}}}, "b": {"on": {"end": {"target": "z"}}}, "z": {"type": "final"}}}
        """#

    private func link(_ journey: String, _ client: TestClient) async throws -> String {
        let made = try await client.send("POST", "\(journey)/links", json: #"{"expires_in":"1h"}"#)
        #expect(made.status == 201)
        #expect(isTimestamp(made[member: "expires_at"]?.string))
        return try #require(made[member: "link"]?.string)
    }

    private func take(_ link: String, _ client: TestClient) async throws -> TestResponse {
        try await client.send("POST", Paths.journeys, json: #"{"link":"\#(link)"}"#)
    }

    @Test("a link is good once: 201 in another session, 404 in a third, and 410 where the journey was")
    func links() async throws {
        try await withApplication(flows: [Self.trip, TestFlows.note]) { app in
            let (client, other) = (try await app.newSession().client, try await app.newSession().client)
            let journey = try await client.start("trip")
            try await client.event("next", on: journey)
            let link = try await link(journey, client)
            #expect(link.hasPrefix("cgl_") && link.utf8.count == 68)
            let taken = try await take(link, other)
            #expect(taken.status == 201)
            #expect(taken.screen == "b")
            let there = try #require(taken["Location"])
            #expect(try await other.get(there).text == taken.text)
            for gone in [try await client.get(journey), try await client.event("end", on: journey)] {
                #expect(gone.status == 410)
                #expect(gone.code == "journey_moved")
            }
            let again = try await take(link, try await app.newSession().client)
            #expect(again.status == 404)
            #expect(again.code == "link_not_found")
            #expect(try await take("cgl_nothing", other).code == "link_not_found")
            #expect(try await other.event("end", on: there)[member: "status"] == "finished")
            #expect(try await other.send("POST", "\(there)/links").code == "journey_finished")
            let note = try await client.start("note", input: #"{"author":"Ada"}"#)
            #expect(try await client.send("POST", "\(note)/links").code == "journey_not_portable")
        }
    }

    @Test("what a journey has told somebody is not shown where a link leads")
    func messages() async throws {
        let told = #"""
            {"id": "told", "version": 1, "initial": "a", "portable": true,
             "states": {"a": {"on": {"next": {"target": "b", "say": "Hi {/user/id}"}}}, "b": {"on": {"end": {"target": "z"}}}, "z": {"type": "final"}}}
            """#
        try await withApplication(flows: [told]) { app in
            let (client, other) = (try await app.newSession().client, try await app.newSession().client)
            let journey = try await client.start("told")
            #expect(try await client.event("next", on: journey)[member: "message"] == "Hi ")
            let link = try await link(journey, client)
            #expect(try await take(link, client)[member: "message"] == "Hi ", "it is the same session")
            let taken = try await take(link, other)
            #expect(taken.status == 201 && taken[member: "message"]?.isNull == true)
        }
    }

    @Test("a link that is opened where it was made shows the journey, and is good afterwards")
    func ownSession() async throws {
        try await withApplication(flows: [Self.trip]) { app in
            let client = try await app.newSession().client
            let journey = try await client.start("trip")
            let link = try await link(journey, client)
            let here = try await take(link, client)
            #expect(here.status == 201 && here["Location"] == journey)
            #expect(try await client.get(journey).text == here.text)
            #expect(try await take(link, try await app.newSession().client).status == 201)
            #expect(try await take(link, client).code == "link_not_found")
        }
    }

    @Test("a request for a link that is sent again gets the link as long as it is good", arguments: Used.allCases)
    func replayed(used: Used) async throws {
        let clock = SteeredClock()
        try await withApplication(flows: [Self.trip], clock: clock) { app in
            let client = try await app.newSession().client
            let journey = try await client.start("trip")
            func make() async throws -> TestResponse {
                try await client.send(
                    "POST", "\(journey)/links", json: #"{"expires_in":"60s"}"#,
                    fields: [("Idempotency-Key", "one-link")])
            }
            let (first, again) = (try await make(), try await make())
            #expect(again["Idempotency-Replayed"] == "true" && again.text == first.text)
            switch used {
            case .taken:
                let link = try #require(first[member: "link"]?.string)
                #expect(try await take(link, try await app.newSession().client).status == 201)
            case .late: clock.advance(.seconds(60))
            case .abandoned: #expect(try await client.send("DELETE", journey).status == 204)
            case .over:
                try await client.event("next", on: journey)
                try await client.event("end", on: journey)
            }
            let late = try await make()
            #expect(late.status == 409 && late.code == "replay_expired" && !late.text.contains("cgl_"))
        }
    }

    /// What ends a link.
    enum Used: CaseIterable { case taken, late, abandoned, over }

    @Test("the user's journeys are listed in all sessions, and taken over; without a user it is 403")
    func users() async throws {
        try await withApplication(flows: [Self.trip]) { app in
            let (first, second) = (try await app.newSession(), try await app.newSession())
            let list = "\(Paths.journeys)?of=user"
            #expect(try await second.client.get(list).code == "no_user")
            let journey = try await first.client.start("trip")
            let id = try #require(journey.split(separator: "/").last)
            let body = #"{"take":{"session":"\#(first.id)","journey":"\#(id)"}}"#
            #expect(try await second.client.send("POST", Paths.journeys, json: body).code == "no_user")
            var clients: [TestClient] = []
            for (session, user) in [(first, "ada"), (second, "ada")] {
                let signed = try await app.admin().send(
                    "PUT", "/v1/sessions/\(session.id)/user", json: #"{"user_id":"\#(user)"}"#)
                clients.append(app.client().with(token: try #require(signed[member: "token"]?.string)))
            }
            let items = try await clients[1].get(list).items
            #expect(items.map { $0[string: "session"] } == [first.id])
            #expect(items.first?[member: "portable"] == true)
            let taken = try await clients[1].send("POST", Paths.journeys, json: body)
            #expect(taken.status == 201)
            #expect(try await clients[0].get(journey).code == "journey_moved")
            let half = try await clients[1].send("POST", Paths.journeys, json: #"{"take":{"session":"ses_1"}}"#)
            #expect(half.status == 400)
        }
    }

    @Test("the list of a user's journeys comes in pages over all sessions")
    func pages() async throws {
        try await withApplication(flows: [Self.trip]) { app in
            var (sessions, journeys): ([String], [String]) = ([], [])
            var client = app.client()
            for _ in 0..<2 {
                let session = try await app.newSession()
                let signed = try await app.admin().send(
                    "PUT", "/v1/sessions/\(session.id)/user", json: #"{"user_id":"ada"}"#)
                client = app.client().with(token: try #require(signed[member: "token"]?.string))
                let journey = try await client.start("trip")
                sessions.append(session.id)
                journeys.append(String(try #require(journey.split(separator: "/").last)))
            }
            let first = try await client.get("\(Paths.journeys)?of=user&limit=1")
            let next = try #require(first[member: "next"]?.string)
            let second = try await client.get("\(Paths.journeys)?of=user&limit=1&cursor=\(next)")
            #expect(second.status == 200 && second[member: "next"]?.string == nil)
            let items = first.items + second.items
            #expect(items.map { $0[string: "session"] } == sessions)
            #expect(items.map { $0[string: "id"] } == journeys)
        }
    }
}
