import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Messages and forms of journeys")
struct JourneyFormTests {
    /// A booking, in two languages, with rules over its two dates.
    private static let booking = #"""
        {"id": "booking", "version": 1, "initial": "dates",
         "input": {"type": "object", "properties": {"guests": {"maximum": 4, "x-say": {"en": "Four at most.", "de": "Höchstens vier."}}}},
         "description": {"en": "Book a room", "de": "Ein Zimmer buchen"},
         "guards": {"open": {"has": "/profile/email", "say": {"en": "Tell us your address first.", "de": "Erst die Adresse, bitte."}},
                    "plain": {"has": "/profile/locale", "say": "Say where you are."}},
         "states": {
           "dates": {"title": {"en": "When?", "de": "Wann?"},
             "accepts": {"submit": {"type": "object", "required": ["from", "to"], "title": {"en": "Your stay", "de": "Ihr Aufenthalt"},
               "properties": {
                 "from": {"type": "string", "format": "date", "title": {"en": "Arrival", "de": "Anreise"},
                          "x-say": {"en": "When do you arrive?", "de": "Wann kommen Sie an?"}},
                 "to": {"type": "string", "format": "date", "examples": ["2026-01-31"], "x-say": "When do you leave?"},
                 "pin": {"type": "string", "writeOnly": true}}}},
             "rules": {"submit": [
               {"guard": {"compare": ["/event/from", "<", "/event/to"]}, "at": "/to",
                "say": {"en": "You leave before you arrive.", "de": "Sie reisen vor der Ankunft ab."}},
               {"guard": {"compare": ["/event/from", ">", {"value": "2000-01-01"}]}}]},
             "on": {"submit": {"target": "room"}, "skip": {"guard": "open", "target": "room"},
                    "plain": {"guard": "plain", "target": "room"}}},
           "room": {"title": "Room", "on": {"again": {"target": "dates", "nav": "pop_to"}}}}}
        """#
    private static let plain = #"""
        {"id": "plain", "version": 1, "initial": "a", "states": {"a": {"title": "One", "on": {"go": {"target": "a"}}}}}
        """#

    private static func withBooking(
        _ body: (_ client: TestClient, _ journey: String) async throws -> Void
    ) async throws {
        try await withSession(flows: [booking, plain]) { client in
            let started = try await client.send(
                "POST", "/v1/sessions/current/journeys", json: #"{"flow": "booking"}"#)
            #expect(started.status == 201)
            let id = try #require(try started.json[member: "id"]?.string)
            try await body(client, "/v1/sessions/current/journeys/\(id)")
        }
    }

    private static func errors(_ response: TestResponse) throws -> [String] {
        (try response.json[member: "errors"]?.elements ?? []).map {
            "\($0[member: "pointer"]?.string ?? "") \($0[member: "detail"]?.string ?? "")"
        }
    }

    private static func submit(
        _ client: TestClient, _ journey: String, _ data: String, language: String? = nil, query: String = ""
    ) async throws -> TestResponse {
        try await client.send(
            "POST", "\(journey)/events\(query)", json: #"{"event": "submit", "data": \#(data)}"#,
            fields: language.map { [("Accept-Language", $0)] } ?? [])
    }

    @Test("schema and rules are one 400 invalid_input with pointers below /data, in the author's words")
    func rules() async throws {
        try await Self.withBooking { client, journey in
            let late = try await Self.submit(client, journey, #"{"from": "2026-02-02", "to": "2026-02-01"}"#)
            #expect(late.status == 400 && late.code == "invalid_input")
            #expect(try Self.errors(late) == ["/data/to You leave before you arrive."])
            let both = try await Self.submit(client, journey, #"{"from": "1999-01-01", "to": 7}"#)
            #expect(both.status == 400)
            #expect(
                try Self.errors(both) == [
                    "/data/to When do you leave?", #"/data/from must be more than "2000-01-01""#,
                ])
            let empty = try await Self.submit(client, journey, "{}")
            #expect(try Self.errors(empty) == ["/data/from When do you arrive?", "/data/to When do you leave?"])
            let good = try await Self.submit(client, journey, #"{"from": "2026-02-01", "to": "2026-02-02"}"#)
            #expect(good.status == 200)
        }
    }

    @Test("guards on the state of things stay 409 guard_not_met, with the author's words")
    func guards() async throws {
        try await Self.withBooking { client, journey in
            let refused = try await client.send("POST", "\(journey)/events", json: #"{"event": "skip"}"#)
            #expect(refused.status == 409 && refused.code == "guard_not_met")
            #expect(try Self.errors(refused) == ["/profile/email Tell us your address first."])
            let german = try await client.send(
                "POST", "\(journey)/events", json: #"{"event": "skip"}"#, fields: [("Accept-Language", "de")])
            #expect(try Self.errors(german) == ["/profile/email Erst die Adresse, bitte."])
            #expect(german["Content-Language"] == "de" && german["Vary"] == "Accept-Language")
            let events = try await client.get(journey)[member: "events"]?.elements ?? []
            let skip = events.first { $0[member: "name"]?.string == "skip" }
            #expect(skip?[member: "enabled"] == false)
            #expect(skip?[member: "why"]?[0]?[member: "detail"]?.string == "Tell us your address first.")
        }
    }

    @Test(
        "the language is that of Accept-Language by lookup, else the first, and is named in Content-Language",
        arguments: [
            (nil, "en", "When?"), ("de", "de", "Wann?"), ("de-AT-1996, en;q=0.5", "de", "Wann?"),
            ("fr, de;q=0.3, en;q=0.4", "en", "When?"), ("fr", "en", "When?"), ("*", "en", "When?"),
            ("de;q=0", "en", "When?"), ("DE", "de", "Wann?"), ("d, ;;,de;q=x", "en", "When?"),
        ] as [(String?, String, String)])
    func languages(accepted: String?, language: String, title: String) async throws {
        try await Self.withBooking { client, journey in
            let fields = accepted.map { [("Accept-Language", $0)] } ?? []
            for _ in 0..<2 {
                let view = try await client.get(journey, fields: fields)
                #expect(view[member: "screen"]?[member: "title"]?.string == title)
                #expect(view["Content-Language"] == language && view["Vary"] == "Accept-Language")
            }
            let sent = try await Self.submit(
                client, journey, #"{"from": "2026-02-02", "to": "2026-02-01"}"#, language: accepted)
            #expect(sent["Content-Language"] == language)
            let said = language == "de" ? "Sie reisen vor der Ankunft ab." : "You leave before you arrive."
            #expect(try Self.errors(sent) == ["/data/to \(said)"])
            let flow = try await client.get("/v1/flows/booking", fields: fields)
            #expect(flow[member: "description"]?.string == (language == "de" ? "Ein Zimmer buchen" : "Book a room"))
            #expect(flow["Content-Language"] == language)
        }
    }

    @Test("each language has its own ETag, with which it is 304, and an event takes that of any: it names the state")
    func conditions() async throws {
        try await Self.withBooking { client, journey in
            func get(_ language: String, knowing etag: String? = nil) async throws -> TestResponse {
                let tag = etag.map { [("If-None-Match", $0)] } ?? []
                return try await client.get(journey, fields: [("Accept-Language", language)] + tag)
            }
            let (english, german) = (try await get("en"), try await get("de"))
            let (one, other) = (try #require(english["ETag"]), try #require(german["ETag"]))
            #expect(one != other)
            for (language, etag) in [
                ("en", one), ("de", other), ("de-AT, en;q=0.5", "W/\(other)"), ("de", "\(one), \(other)"),
            ] {
                let known = try await get(language, knowing: etag)
                #expect(known.status == 304 && known["Vary"] == "Accept-Language")
                #expect(known["ETag"] == (language == "en" ? one : other))
            }
            for (language, etag) in [("en", other), ("de", one)] {
                #expect(try await get(language, knowing: etag).status == 200)
            }
            func submit(_ etag: String, _ language: String) async throws -> TestResponse {
                try await client.send(
                    "POST", "\(journey)/events",
                    json: #"{"event": "submit", "data": {"from": "2026-02-01", "to": "2026-02-02"}}"#,
                    fields: [("Accept-Language", language), ("If-Match", etag)])
            }
            let state = try #require(UInt64(one.prefix { $0 != "-" }.filter(\.isNumber)))
            let stale = try await submit("\"\(state &+ 1)-de\"", "de")
            #expect(stale.status == 412 && stale["ETag"] == other && stale["Vary"] == "Accept-Language")
            #expect(stale[member: "journey"] == (try german.json))
            // Nobody has seen a service in a language.
            let service = try await client.send(
                "PATCH", Paths.profile, json: "{}", fields: [("If-Match", "\"0-de\"")])
            #expect(service.status == 412)
            let moved = try await submit(other, "en")
            #expect(moved.status == 200)
            #expect(try await get("en", knowing: moved["ETag"]).status == 304)
            #expect(try await get("en", knowing: one).status == 200)
            #expect(try await submit(other, "de").status == 412)
        }
    }

    @Test("what is remembered of one language is not shown in another, and 304 is not said to who may read another one")
    func remembered() async throws {
        try await Self.withBooking { client, journey in
            let english = try await client.get(journey)
            let etag = try #require(english["ETag"])
            let german = try await client.get(journey, fields: [("Accept-Language", "de"), ("If-None-Match", etag)])
            #expect(german.status == 200 && german[member: "screen"]?[member: "title"] == "Wann?")
            #expect(try await client.get(journey)[member: "screen"]?[member: "title"] == "When?")
            let list = try await client.get("/v1/sessions/current/journeys", fields: [("Accept-Language", "de")])
            #expect(list.items[0][member: "screen"]?[member: "title"] == "Wann?")
        }
    }

    @Test("what is wrong with an input is said in the client's language, too")
    func inputs() async throws {
        try await Self.withBooking { client, _ in
            let refused = try await client.send(
                "POST", "/v1/sessions/current/journeys", json: #"{"flow": "booking", "input": {"guests": 5}}"#,
                fields: [("Accept-Language", "de")])
            #expect(refused.status == 400 && refused["Content-Language"] == "de")
            #expect(try Self.errors(refused) == ["/input/guests Höchstens vier."])
        }
    }

    @Test("a flow without languages has neither Content-Language nor Vary, and 304")
    func withoutLanguages() async throws {
        try await Self.withBooking { client, _ in
            let started = try await client.send("POST", "/v1/sessions/current/journeys", json: #"{"flow": "plain"}"#)
            let journey = try #require(started["Location"])
            let view = try await client.get(journey, fields: [("Accept-Language", "de")])
            #expect(view["Content-Language"] == nil && view["Vary"] == nil)
            let same = try await client.get(journey, fields: [("If-None-Match", try #require(view["ETag"]))])
            #expect(same.status == 304)
        }
    }

    @Test("with include=schema each event carries the schema of its data, with all annotations")
    func schemas() async throws {
        try await Self.withBooking { client, journey in
            func schema(_ view: TestResponse, _ event: String) -> JSONDocument? {
                view[member: "events"]?.elements?.first { $0[member: "name"]?.string == event }?[member: "schema"]
            }
            let view = try await client.get("\(journey)?include=schema", fields: [("Accept-Language", "de")])
            let submit = try #require(schema(view, "submit"))
            #expect(submit[member: "title"] == "Ihr Aufenthalt")
            let properties = try #require(submit[member: "properties"])
            #expect(properties[member: "from"]?[member: "title"] == "Anreise")
            #expect(properties[member: "from"]?[member: "x-say"] == "Wann kommen Sie an?")
            #expect(properties[member: "from"]?[member: "format"] == "date")
            #expect(properties[member: "to"]?[member: "examples"] == ["2026-01-31"])
            #expect(properties[member: "pin"]?[member: "writeOnly"] == true)
            #expect(schema(view, "skip") == .emptyObject)
            #expect(schema(try await client.get(journey), "submit") == nil)
            let sent = try await Self.submit(
                client, journey, #"{"from": "2026-02-01", "to": "2026-02-02"}"#, query: "?include=schema")
            #expect(sent.status == 200 && schema(sent, "again") == .emptyObject)
            #expect(try await client.get("\(journey)?include=all").status == 400)
            // Wherever a journey is shown.
            let query = "?include=schema"
            let moved = try await client.send("POST", "\(journey)/navigation\(query)", json: #"{"to": "dates"}"#)
            let again = try await client.send("PUT", journey + query)
            let new = try await client.send("POST", Paths.journeys + query, json: #"{"flow": "booking"}"#)
            let list = try await client.get(Paths.journeys + query)
            for view in [moved, again, new] { #expect(schema(view, "submit") != nil, "\(view.text)") }
            #expect(list.items.allSatisfy { $0[member: "events"]?[0]?[member: "schema"] != nil }, "\(list.text)")
        }
    }
}
