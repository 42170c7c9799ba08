import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Testing

/// A menu that all sessions read and the kitchen writes.
@Suite("Documents of the process")
struct ProcessDocumentTests {
    private static let path = Paths.service("menu")
    private static let written = "/v1/services/menu"

    private static let menu = #"""
        {"name": "menu", "scope": "process", "schema": {"type": "object", "required": ["soup"],
         "properties": {"soup": {"type": "string"}, "open": {"type": "boolean"}}},
         "default": {"soup": "leek", "open": true}}
        """#
    /// Orders as long as the kitchen is open.
    private static let order = #"""
        {"id": "order", "version": 1, "initial": "card",
         "guards": {"open": {"service": "menu", "schema": {"properties": {"open": {"const": true}}}}},
         "states": {
           "card": {"data": ["menu"], "on": {"order": {"target": "ordered", "guard": "open", "actions": [
             {"op": "replace", "path": "/profile/name", "value": {"$from": "/menu/soup"}}]}}},
           "ordered": {"data": ["profile"], "requires": ["open"]}}}
        """#

    private static func withMenu(
        _ store: Configuration.Store = .memory, _ body: (RunningApplication) async throws -> Void
    ) async throws {
        let menu = try ServiceFile(
            name: "menu",
            schema: [
                "type": "object", "required": ["soup"],
                "properties": ["soup": ["type": "string"], "open": ["type": "boolean"]],
            ],
            default: ["soup": "leek", "open": true], scope: .process)
        try await withApplication(services: [menu], flows: [order], setting: \.store, to: store) {
            try await body($0)
        }
    }

    @Test("all sessions read the one document, and only the admin listener writes it")
    func reading() async throws {
        try await Self.withMenu { app in
            let (one, id, _) = try await app.newSession()
            let two = try await app.newSession().client
            let first = try await one.get(Self.path)
            #expect(first.text == #"{"open":true,"soup":"leek"}"# && first["ETag"] == "\"0\"")
            let admin = app.admin()
            let put = try await admin.send("PUT", Self.written, json: #"{"soup":"onion"}"#)
            #expect(put.status == 200 && put.text == #"{"soup":"onion"}"#)
            let tag = try #require(put["ETag"])
            for client in [one, two] {
                let read = try await client.get(Self.path)
                #expect(read.text == #"{"soup":"onion"}"# && read["ETag"] == tag)
                #expect(try await client.get(Self.path, fields: [("If-None-Match", tag)]).status == 304)
                let listing = try #require(try await client.listing(of: "menu"))
                #expect(listing[string: "scope"] == "process" && listing[string: "status"] == "live")
                #expect(listing[string: "etag"] == tag)
                #expect(try await client.listing(of: "profile")?[string: "scope"] == "session")
            }
            #expect(try await admin.get(Self.written).text == #"{"soup":"onion"}"#)
            let stale = try await admin.patch(Self.written, #"{"soup":"pea"}"#, fields: [("If-Match", "\"0\"")])
            #expect(stale.status == 412 && stale["ETag"] == tag)
            let wrong = try await admin.patch(Self.written, #"{"soup":7}"#)
            #expect(wrong.status == 400 && wrong.code == "invalid_state" && wrong.pointers == ["/soup"])
            let patched = try await admin.patch(Self.written, #"{"soup":"pea"}"#, fields: [("If-Match", tag)])
            #expect(patched.status == 200 && patched["ETag"] != tag)

            for (method, body) in [("PUT", #"{"soup":"x"}"#), ("PATCH", #"{"soup":"x"}"#), ("DELETE", nil)] {
                let refused = try await one.send(method, Self.path, json: body)
                #expect(refused.status == 405 && refused["Allow"] == "GET, HEAD, OPTIONS")
                // Neither does a back end write it as if it were the session's.
                let other = try await admin.send(method, "/v1/sessions/\(id)/services/menu", json: body)
                #expect(other.status == 405 && other["Allow"] == "GET, HEAD, OPTIONS")
            }
            let transaction = try await one.send(
                "POST", Paths.transactions,
                json: #"{"operations":[{"op":"put","service":"menu","value":{"soup":"x"}}]}"#)
            #expect(transaction.status == 400 && transaction.pointers == ["/operations/0/service"])
            #expect(try await two.get(Self.path).text == #"{"soup":"pea"}"#)

            #expect(try await admin.send("DELETE", "\(Self.written)/state").status == 204)
            let cleared = try await one.get(Self.path)
            #expect(cleared.text == first.text && cleared["ETag"] != "\"0\"")
            #expect(try await admin.send("DELETE", Self.written).status == 204)
            #expect(try await one.get(Self.path)["ETag"] == "\"0\"")
            // What its sessions do to theirs is nothing to it.
            #expect(try await admin.send("PUT", Self.written, json: #"{"soup":"beet"}"#).status == 200)
            #expect(try await one.send("DELETE", Paths.services).status == 204)
            #expect(try await one.send("DELETE", Paths.current).status == 204)
            #expect(try await two.get(Self.path).text == #"{"soup":"beet"}"#)
        }
    }

    @Test("on the admin listener a service of each session is not one of the process, nor is any other name")
    func others() async throws {
        try await Self.withMenu { app in
            for name in ["profile", "menus"] {
                for method in ["GET", "DELETE"] {
                    let answer = try await app.admin().send(method, "/v1/services/\(name)")
                    #expect(answer.status == 404 && answer.code == "service_not_found")
                }
            }
            // On the public listener there is no such path.
            let client = try await app.newSession().client
            #expect(try await client.get(Self.written).status == 404)
        }
    }

    @Test("they are in no list of sessions, count as none, and stay when all sessions end, and at a restart")
    func hidden() async throws {
        try await withFolder([:]) { _, folder in
            var tag: String?
            for round in 0..<2 {
                try await Self.withMenu(.sqlite("\(folder)/concierge.db")) { app in
                    let admin = app.admin()
                    if round == 0 {
                        tag = try await admin.send("PUT", Self.written, json: #"{"soup":"onion"}"#)["ETag"]
                    }
                    #expect(try await admin.get("/v1/sessions").items.isEmpty)
                    func stored() async throws -> JSONDocument? {
                        try await admin.get("/v1/stats")[member: "sessions"]?[member: "stored"]
                    }
                    #expect(try await stored() == 0)
                    let client = try await app.newSession().client
                    #expect(try await stored() == 1)
                    #expect(try await admin.get("/v1/sessions?limit=1").items.count == 1)
                    #expect(try await admin.send("DELETE", "/v1/sessions")[member: "count"] == 1)
                    #expect(try await client.get(Self.path).status == 401)
                    #expect(try await stored() == 0)
                    let read = try await app.newSession().client.get(Self.path)
                    #expect(read.text == #"{"soup":"onion"}"# && read["ETag"] == tag && tag != nil)
                    #expect(try await admin.send("DELETE", "/v1/sessions").status == 200)
                    // Its id is an id of no session.
                    let id = "ses_" + String(repeating: "f", count: 32)
                    #expect(try await admin.get("/v1/sessions/\(id)").status == 404)
                }
            }
        }
    }

    @Test("a write with an Idempotency-Key is done once, also over a restart")
    func keys() async throws {
        try await withFolder([:]) { _, folder in
            var first: TestResponse?
            for _ in 0..<2 {
                try await Self.withMenu(.sqlite("\(folder)/concierge.db")) { app in
                    let admin = app.admin()
                    func write(_ json: String) async throws -> TestResponse {
                        try await admin.send("PUT", Self.written, json: json, fields: [("Idempotency-Key", "k")])
                    }
                    if let first {
                        try await admin.send("PUT", Self.written, json: #"{"soup":"pea"}"#)
                        let again = try await write(#"{"soup":"onion"}"#)
                        #expect(again["Idempotency-Replayed"] == "true" && again.body == first.body)
                        #expect(try await admin.get(Self.written)[member: "soup"] == "pea")
                        #expect(try await write(#"{"soup":"leek"}"#).code == "idempotency_key_reused")
                    } else {
                        first = try await write(#"{"soup":"onion"}"#)
                        #expect(first?.status == 200)
                    }
                }
            }
        }
    }

    @Test("a GET that waits, and the event stream of each session, tell of a change")
    func watching() async throws {
        try await Self.withMenu { app in
            let admin = app.admin()
            let client = try await app.newSession().client
            let stream = try await EventReader.open(client)
            async let waiting = client.get(Self.path, fields: [("If-None-Match", "\"0\""), ("Prefer", "wait=30")])
            while try await !admin.get("/metrics").text.contains("concierge_watchers 2\n") { await Task.yield() }
            let tag = try await admin.send("PUT", Self.written, json: #"{"soup":"onion"}"#)["ETag"]
            let seen = try await waiting
            #expect(seen.status == 200 && seen["ETag"] == tag && seen.text == #"{"soup":"onion"}"#)
            let changed = try #require(try await stream.next())
            #expect(changed.name == "service.changed" && changed["service"] == "menu")
            #expect(changed["etag"]?.string == tag && changed.id == nil, "it is no commit of the session")
            try await admin.send("DELETE", "\(Self.written)/state")
            #expect(try await stream.next()?.name == "service.cleared")
            try await admin.send("DELETE", Self.written)
            #expect(try await stream.next()?.name == "service.removed")
            // The same on the admin listener.
            async let other = admin.get(Self.written, fields: [("If-None-Match", "\"0\""), ("Prefer", "wait=30")])
            while try await !app.admin().get("/metrics").text.contains("concierge_watchers 2\n") { await Task.yield() }
            try await app.admin().send("PUT", Self.written, json: #"{"soup":"pea"}"#)
            #expect(try await other.text == #"{"soup":"pea"}"#)
        }
    }

    @Test("a stream that is resumed tells of all of them: which have changed meanwhile nobody knows")
    func resuming() async throws {
        try await Self.withMenu { app in
            let client = try await app.newSession().client
            let point = try await EventReader.open(client).lastID
            let tag = try await app.admin().send("PUT", Self.written, json: #"{"soup":"onion"}"#)["ETag"]
            let stream = try await EventReader.open(client, after: point)
            let changed = try #require(try await stream.next())
            #expect(changed.name == "service.changed" && changed["service"] == "menu" && changed["etag"]?.string == tag)
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            // The change itself may be told after that.
            var next = try await stream.next()
            while next?["service"] == "menu" { next = try await stream.next() }
            #expect(next?["service"] == "profile")
            try await app.admin().send("DELETE", Self.written)
            next = try await stream.next()
            while next?.name == "service.changed" { next = try await stream.next() }
            #expect(next?.name == "service.removed")
            let later = try await EventReader.open(client, after: stream.lastID)
            let removed = try #require(try await later.next())
            #expect(removed.name == "service.removed" && removed["service"] == "menu" && removed["etag"] == "\"0\"")
        }
    }

    @Test("flows read them, and what holds of them is asked again after they changed")
    func flows() async throws {
        try await Self.withMenu { app in
            let admin = app.admin()
            let client = try await app.newSession().client
            let path = try await client.start("order")
            let card = try await client.get(path)
            #expect(card.text.contains(#""menu":{"open":true,"soup":"leek"}"#))
            try await admin.patch(Self.written, #"{"open":false,"soup":"onion"}"#)
            let later = try await client.get(path)
            #expect(later.text.contains(#""menu":{"open":false,"soup":"onion"}"#) && later["ETag"] != card["ETag"])
            let refused = try await client.send("POST", "\(path)/events", json: #"{"event":"order"}"#)
            #expect(refused.status == 409 && refused.code == "guard_not_met")
            try await admin.patch(Self.written, #"{"open":true}"#)
            #expect(try await client.event("order", on: path).screen == "ordered")
            #expect(try await client.get(Paths.profile)[member: "name"] == "onion")
            async let waiting = client.get(
                path,
                fields: [("If-None-Match", try #require(try await client.get(path)["ETag"])), ("Prefer", "wait=30")])
            while try await !admin.get("/metrics").text.contains("concierge_watchers 1\n") { await Task.yield() }
            try await admin.patch(Self.written, #"{"open":false}"#)
            #expect(try await waiting.screen == "card")
        }
    }

    @Test("an export has them, and an import takes them: those that are there stay unless asked to be replaced")
    func moving() async throws {
        var export = ""
        try await Self.withMenu { app in
            try await app.admin().send("PUT", Self.written, json: #"{"soup":"onion"}"#)
            _ = try await app.newSession()
            export = try await app.admin().send("POST", "/v1/exports").text
        }
        let lines = [(name: "Content-Type", value: "application/x-ndjson")]
        try await Self.withMenu { app in
            let client = try await app.newSession().client
            func take(_ query: String, _ text: String) async throws -> TestResponse {
                try await app.admin().send("POST", "/v1/imports\(query)", json: text, fields: lines)
            }
            let trial = try await take("?dry_run=true", export)
            #expect(trial[member: "process"] == "imported" && trial[member: "complete"] == true)
            #expect(try await client.get(Self.path)["ETag"] == "\"0\"")
            let first = try await take("", export)
            #expect(first[member: "process"] == "imported" && first[member: "imported"] == 1)
            #expect(first[member: "read"] == 1 && first[member: "complete"] == true)
            #expect(try await client.get(Self.path).text == #"{"soup":"onion"}"#)
            let tag = try await app.admin().patch(Self.written, #"{"soup":"pea"}"#)["ETag"]
            let again = try await take("", export)
            #expect(again[member: "process"] == "skipped")
            #expect(try await client.get(Self.path)["ETag"] == tag)
            let damaged = try await take("?on_conflict=replace", export.replacing("onion", with: "garlic"))
            #expect(damaged[member: "complete"] == false && damaged[member: "process"] == nil)
            #expect(try await client.get(Self.path)["ETag"] == tag)
            let replaced = try await take("?on_conflict=replace", export)
            #expect(replaced[member: "process"] == "replaced")
            let read = try await client.get(Self.path)
            #expect(read.text == #"{"soup":"onion"}"# && read["ETag"] != tag)
        }
        // Where there is no menu, the sessions come without it.
        try await withApplication { app in
            let report = try await app.admin().send("POST", "/v1/imports", json: export, fields: lines)
            #expect(report[member: "process"] == "refused" && report[member: "imported"] == 1)
            #expect(try report.json[member: "errors"]?[0]?[member: "pointer"] == "/services/0/name")
        }
    }

    @Test("a document of the process shows within a second on every server of a Redis")
    func sharing() async throws {
        let redis = try RedisTestServer()
        try await withFolder(["services/menu.json": Self.menu]) { _, folder in
            func start() async throws -> ServingProgram {
                try await ServingProgram([
                    "--store", "redis://127.0.0.1:\(redis.port)", "--services", "\(folder)/services", "--set",
                    "store_grace=0s",
                ])
            }
            let (one, two) = (try await start(), try await start())
            let token = try await one.newToken()
            let clients = [one.client.with(token: token), two.client.with(token: token)]
            let stream = try await EventReader.open(clients[1])
            let tag = try #require(try await one.admin.send("PUT", Self.written, json: #"{"soup":"onion"}"#)["ETag"])
            #expect(try await clients[0].get(Self.path)["ETag"] == tag)
            // The other server's admin listener asks the store.
            #expect(try await two.admin.get(Self.written)["ETag"] == tag)
            #expect(try await stream.next()?["etag"]?.string == tag)
            #expect(try await clients[1].get(Self.path).text == #"{"soup":"onion"}"#)
            // Both write, and neither loses what the other wrote.
            try await two.admin.patch(Self.written, #"{"open":false}"#, fields: [("If-Match", tag)])
            #expect(try await one.admin.patch(Self.written, "{}", fields: [("If-Match", tag)]).status == 412)
            let last = try await one.admin.patch(Self.written, #"{"soup":"pea"}"#)
            #expect(last.text == #"{"open":false,"soup":"pea"}"#)
            for server in [one, two] { try await server.end() }
        }
    }
}
