import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Journeys")
struct JourneyTests {
    @Test("POST starts a journey: 201 with its place, an ETag, and all that a client draws")
    func start() async throws {
        try await withWizard { app, client in
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            #expect(started.status == 201)
            #expect(started["ETag"] != nil)
            let id = try #require(started[member: "id"]?.string)
            let session = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            #expect(started["Location"] == Paths.journey(id, of: session))
            let json = try started.json
            #expect(json[string: "flow"] == "wizard")
            #expect(json[member: "version"] == 1)
            #expect(json[string: "status"] == "active")
            #expect(
                json[member: "screen"] == [
                    "id": "start", "name": "Start", "title": "Who are you?", "presentation": "root",
                    "data": ["profile": defaultProfile],
                ])
            #expect(json[member: "can_go_back"] == false)
            #expect(json[member: "stack"] == [["flow": "wizard", "screen": "start", "presentation": "root"]])
            #expect(json[member: "coordinators"] == ["flow": "wizard", "state": "start", "children": []])
            #expect(json[member: "outcome"] == .null)
            #expect(json[member: "output"] == .null)
            #expect(isTimestamp(json[string: "started_at"]))
            #expect(isTimestamp(json[string: "expires_at"]))
            let again = try await client.get(Paths.journey(id))
            #expect(again.status == 200)
            #expect(again["ETag"] == started["ETag"])
            #expect(again.text == started.text)
        }
    }

    @Test("the members come in the order of the contract")
    func order() async throws {
        try await withWizard { _, client in
            let text = try await client.get(Paths.main).text
            let names = [
                "id", "flow", "version", "status", "step", "screen", "events", "can_go_back", "stack", "coordinators",
                "outcome", "output", "started_at", "expires_at",
            ]
            var rest = text[...]
            for name in names {
                let place = try #require(rest.firstRange(of: "\"\(name)\":"), "\(name)")
                rest = rest[place.upperBound...]
            }
        }
    }

    @Test("main is started by the first look when a flow is configured for it, else it is not there")
    func main() async throws {
        try await withWizard { _, client in
            #expect(try await client.get(Paths.journeys).items.isEmpty, "a list starts none")
            let first = try await client.get(Paths.main)
            #expect(first.status == 200)
            #expect(first[member: "id"] == "main")
            #expect(try await client.get(Paths.main).text == first.text)
            #expect(try await client.get(Paths.journeys).items.count == 1)
        }
        try await withWizard(main: nil) { _, client in
            let missing = try await client.get(Paths.main)
            #expect(missing.status == 404)
            #expect(missing.code == "journey_not_found")
            let unnamed = try await client.send("PUT", Paths.main, json: "{}")
            #expect(unnamed.status == 400)
            #expect(unnamed.pointers == ["/flow"])
            #expect(try await client.send("PUT", Paths.main, json: #"{"flow":"wizard"}"#).status == 201)
        }
    }

    @Test("an event moves the journey and changes services, together")
    func event() async throws {
        try await withWizard { _, client in
            let moved = try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            #expect(moved.status == 200)
            #expect(moved["ETag"] == (try await client.get(Paths.main)["ETag"]))
            #expect(moved.screen == "page1")
            #expect(moved.stack == ["start", "page1"])
            #expect(moved[member: "can_go_back"] == true)
            #expect(try await client.get(Paths.profile)[member: "name"] == "Ada")
            #expect(try await client.get(Paths.main).text == moved.text)
            let back = try await client.event("back", on: Paths.main)
            #expect(back.screen == "start")
            #expect(back.step == 3)
        }
    }

    @Test("the end of a flow: outcome and output stay readable, and going on is 410 with how to start again")
    func finish() async throws {
        try await withWizard { _, client in
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            try await client.event("next", on: Paths.main)
            let finished = try await client.event("finish", on: Paths.main)
            #expect(finished.status == 200)
            #expect(finished[member: "status"] == "finished")
            #expect(finished[member: "screen"] == .null)
            #expect(finished[member: "coordinators"] == .null)
            #expect(finished[member: "outcome"] == "done")
            #expect(finished[member: "output"] == ["by": "Ada"])
            #expect(try await client.get(Paths.main).text == finished.text)
            let gone = try await client.event("next", on: Paths.main)
            #expect(gone.status == 410)
            #expect(gone.code == "journey_finished")
            let again = try #require(gone[member: "start_again"])
            #expect(again[member: "body"]?.names == ["flow"], "the flow was given no input")
            let restarted = try await client.send(
                try #require(again[string: "method"]), try #require(again[string: "href"]),
                json: try #require(again[member: "body"]).description)
            #expect(restarted.status == 200)
            #expect(restarted.screen == "start")
            #expect(restarted.step == 5, "the step only grows")
        }
    }

    @Test("a flow whose input is optional starts again without one")
    func optionalInput() async throws {
        try await withWizard { _, client in
            let journey = try await client.start("note", input: #"{"author":"Ada"}"#)
            try await client.event("close", on: journey)
            let gone = try await client.event("close", on: journey)
            #expect(gone.status == 410)
            let again = try #require(gone[member: "start_again"])
            #expect(again.names == ["method", "href", "body"])
            #expect(again[member: "body"] == ["flow": "note", "input": ["author": "Ada"]])
            #expect(try await client.send("PUT", journey).status == 200)
        }
    }

    @Test("a journey whose time is over is shown so, and takes no event: 410")
    func expiry() async throws {
        let clock = SteeredClock()
        try await withWizard(clock: clock) {
            $0.sessionIdleTimeout = .seconds(7200)
        } _: { _, client in
            let journey = try await client.start("order", input: #"{"amount":3}"#)
            clock.advance(.seconds(599))
            #expect(try await client.get(journey)[member: "status"] == "active")
            clock.advance(.seconds(1))
            let expired = try await client.get(journey)
            #expect(expired.status == 200)
            #expect(expired[member: "status"] == "expired")
            #expect(expired.step == 2)
            let gone = try await client.event("buy", on: journey)
            #expect(gone.status == 410)
            #expect(gone.code == "journey_expired")
            let again = try #require(gone[member: "start_again"])
            #expect(again[string: "href"] == journey)
            #expect(again[member: "body"] == ["flow": "order", "input": ["amount": 3]])
            let restarted = try await client.send(
                "PUT", journey, json: try #require(again[member: "body"]).description)
            #expect(restarted.status == 200)
            #expect(restarted[member: "status"] == "active")
        }
    }

    @Test("PUT starts over, with another flow too; the step goes on")
    func restart() async throws {
        try await withWizard { _, client in
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            let again = try await client.send("PUT", Paths.main)
            #expect(again.status == 200)
            #expect(again.screen == "start")
            #expect(again.step == 3)
            let other = try await client.send("PUT", Paths.main, json: #"{"flow":"order","input":{"amount":1}}"#)
            #expect(other.status == 200)
            #expect(other[member: "flow"] == "order")
            #expect(other[member: "version"] == 2)
            #expect(other.step == 4)
            let missing = try await client.send("PUT", Paths.journey("nobody"), json: #"{"flow":"order"}"#)
            #expect(missing.status == 404)
            #expect(missing.code == "journey_not_found")
        }
    }

    @Test("PUT without a body starts a running journey over with the input that it was given")
    func restartWithInput() async throws {
        try await withWizard { _, client in
            let journey = try await client.start("order", input: #"{"amount":3}"#)
            let again = try await client.send("PUT", journey)
            #expect(again.status == 200)
            #expect(again.step == 2)
            // Another flow has an input of its own.
            #expect(try await client.send("PUT", journey, json: #"{"flow":"order"}"#).pointers == ["/input/amount"])
            try await client.event("buy", on: journey)
            let anew = try await client.send("PUT", journey)
            #expect(anew.status == 200)
            #expect(anew[member: "status"] == "active")
        }
    }

    @Test("DELETE gives a journey up; then it is not there, and main begins anew with a step that was never before")
    func abandon() async throws {
        try await withWizard { _, client in
            let journey = try await client.start("wizard")
            #expect(try await client.send("DELETE", journey).status == 204)
            #expect(try await client.get(journey).status == 404)
            #expect(try await client.send("DELETE", journey).status == 404)
            #expect(try await client.event("next", on: journey).code == "journey_not_found")
            #expect(try await client.get(Paths.main).step == 1)
            #expect(try await client.send("DELETE", Paths.main).status == 204)
            let anew = try await client.get(Paths.main)
            #expect(anew[member: "status"] == "active")
            #expect(try #require(anew.step) > 1)
        }
    }

    @Test("another session's journey is not there, whatever path one tries")
    func isolation() async throws {
        try await withWizard { app, client in
            let journey = try await client.start("wizard")
            let id = try #require(journey.split(separator: "/").last)
            let other = try await app.newSession()
            #expect(try await other.client.get(Paths.journey(String(id))).status == 404)
            #expect(try await other.client.get(journey).status == 404)
            #expect(try await other.client.event("cancel", on: journey).status == 404)
            #expect(try await other.client.send("DELETE", journey).status == 404)
            #expect(try await other.client.get(Paths.journeys).items.isEmpty)
            // Both have a main, and each its own.
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            #expect(try await other.client.get(Paths.main).screen == "start")
            #expect(try await client.get(Paths.main).screen == "page1")
            #expect(try await app.client().get(Paths.main).status == 401)
        }
    }

    @Test("HEAD is there where GET is; OPTIONS and 405 say what is possible")
    func methods() async throws {
        try await withWizard { _, client in
            let journey = try await client.start("wizard")
            let shown = try await client.get(journey)
            let head = try await client.send("HEAD", journey)
            #expect(head.status == 200)
            #expect(head["ETag"] == shown["ETag"])
            #expect(head["Content-Length"] == "\(shown.body.count)")
            #expect(head.body.isEmpty)
            #expect(try await client.send("HEAD", Paths.journeys).status == 200)
            for (path, allow) in [
                (Paths.journeys, "GET, HEAD, OPTIONS, POST"), (journey, "DELETE, GET, HEAD, OPTIONS, PUT"),
                ("\(journey)/events", "OPTIONS, POST"), ("\(journey)/navigation", "OPTIONS, POST"),
            ] {
                let options = try await client.send("OPTIONS", path)
                #expect(options.status == 204)
                #expect(options["Allow"] == allow)
                let wrong = try await client.send("PATCH", path, json: "{}")
                #expect(wrong.status == 405)
                #expect(wrong["Allow"] == allow)
            }
        }
    }

    @Test("Prefer: return=minimal leaves the journey out of the answer, and not its step")
    func minimal() async throws {
        try await withWizard { _, client in
            let minimal = [(name: "Prefer", value: "return=minimal")]
            let moved = try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main, fields: minimal)
            #expect(moved.status == 204)
            #expect(moved["ETag"] == (try await client.get(Paths.main)["ETag"]))
            #expect(moved["Preference-Applied"] == "return=minimal")
            let again = try await client.send("PUT", Paths.main, fields: minimal)
            #expect(again.status == 204)
            #expect(again["ETag"] == (try await client.get(Paths.main)["ETag"]))
        }
    }

    @Test("the coordinator is a service like others, which clients can only read")
    func coordinator() async throws {
        try await withWizard { _, client in
            try await client.get(Paths.main)
            let service = try await client.get(Paths.service("coordinator"))
            #expect(service.status == 200)
            let journeys = try #require(service[member: "journeys"]?.elements)
            #expect(journeys.map { $0[string: "id"] } == ["main"])
            #expect(journeys.first?[string: "screen"] == "start")
            #expect(try await client.listing(of: "coordinator")?[string: "status"] == "live")
            #expect(try await client.send("PUT", Paths.service("coordinator"), json: "{}").status == 405)
            #expect(try await client.send("DELETE", Paths.service("coordinator")).status == 405)
        }
    }

    @Test("the statistics count journeys that run, until they or their sessions end")
    func statistics() async throws {
        try await withWizard { app, client in
            func live() async throws -> Int? {
                try await app.admin().get("/v1/stats")[member: "journeys"]?[member: "live"]?.int
            }
            let journey = try await client.start("wizard")
            try await client.get(Paths.main)
            #expect(try await live() == 2)
            #expect(try await app.admin().get("/metrics").text.contains("\nconcierge_journeys_live 2\n"))
            try await client.event("cancel", on: journey)
            #expect(try await live() == 1)
            #expect(try await client.send("PUT", journey).status == 200)
            #expect(try await live() == 2)
            #expect(try await client.send("DELETE", journey).status == 204)
            #expect(try await live() == 1)
            #expect(try await client.send("DELETE", Paths.current).status == 204)
            #expect(try await live() == 0)
        }
    }

    @Test("operators see the journeys of any session, and where all of them stand")
    func admin() async throws {
        try await withWizard { app, client in
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            let other = try await app.newSession()
            try await other.client.get(Paths.main)
            let session = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            let listed = try await app.admin().get("/v1/sessions/\(session)/journeys")
            #expect(listed.status == 200)
            #expect(listed.items == [try await client.get(Paths.main).json])
            let census = try await app.admin().get("/v1/journeys/census")
            #expect(
                census.items == [
                    ["flow": "wizard", "version": 1, "state": "page1", "count": 1, "in_use": 1],
                    ["flow": "wizard", "version": 1, "state": "start", "count": 1, "in_use": 2],
                ])
            #expect(try await app.admin().get("/v1/sessions/ses_none/journeys").status == 404)
        }
    }

    @Test("the params of a screen are shown, and those below it are as they were")
    func params() async throws {
        let shop = """
            {"id": "shop", "version": 1, "initial": "list",
             "on": {"look": {"target": "product", "params": {"id": {"$from": "/event/id"}}}},
             "states": {"list": {}, "product": {"title": "A product"}}}
            """
        try await withSession(flows: [shop]) { client in
            let path = try await client.start("shop")
            #expect(try await client.get(path)[member: "screen"]?[member: "params"] == nil)
            for id in 1...2 {
                let shown = try await client.event("look", #"{"id":\#(id)}"#, on: path)
                #expect(shown[member: "screen"]?[member: "params"] == ["id": JSONDocument(id)])
            }
            #expect(try await client.event("back", on: path)[member: "screen"]?[member: "params"] == ["id": 1])
        }
    }

    /// With as many journeys as there may be.
    private static func withFull(_ body: (TestClient, [String]) async throws -> Void) async throws {
        try await withWizard {
            $0.journeys.max = 2
        } _: { _, client in
            try await body(client, [try await client.start("wizard"), try await client.start("wizard")])
        }
    }

    @Test("at journeys.max what is wrong with a request is said first: 404, 400, then 409; one that is over makes room")
    func full() async throws {
        try await Self.withFull { client, journeys in
            for (body, status, code) in [
                (#"{"flow":"ordre"}"#, 404, "flow_not_found"), (#"{"flow":"order"}"#, 400, "invalid_input"),
                (#"{"flow":"wizard","at":"page7"}"#, 400, "invalid_input"),
                (#"{"flow":"wizard"}"#, 409, "too_many_journeys"),
            ] {
                let refused = try await client.send("POST", Paths.journeys, json: body)
                #expect(refused.status == status)
                #expect(refused.code == code)
            }
            try await client.event("cancel", on: journeys[0])
            #expect(try await client.send("POST", Paths.journeys, json: #"{"flow":"ordre"}"#).status == 404)
            #expect(try await client.get(journeys[0]).status == 200, "what was refused has pushed nothing out")
            #expect(try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#).status == 201)
            #expect(try await client.get(journeys[0]).status == 404)
        }
    }

    @Test("main always has a place", arguments: ["GET", "PUT"])
    func mainHasPlace(method: String) async throws {
        try await Self.withFull { client, _ in
            let main = try await client.send(method, Paths.main)
            #expect(main.status == (method == "GET" ? 200 : 201))
            #expect(main.screen == "start")
            #expect(try await client.get(Paths.journeys).items.count == 3)
            let refused = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            #expect(refused.code == "too_many_journeys")
        }
    }
}
