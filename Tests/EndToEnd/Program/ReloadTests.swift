import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Synchronization
import Testing

/// `POST /v1/reload` and SIGHUP: other files without a restart.
@Suite("Reloads")
struct ReloadTests {
    private static func tour(_ title: String, version: Int = 1, next: String = "second", more: String = "") -> String {
        """
        {"id": "tour", "version": \(version), "initial": "first"\(more), "states": {
           "first": {"title": "\(title)", "data": ["note"], "on": {"next": {"target": "\(next)"}}},
           "\(next)": {"on": {"back-to-start": {"target": "first", "nav": "pop_to"}, "end": {"target": "done"}}},
           "done": {"type": "final"}}}
        """
    }

    private static func service(_ name: String, text: String = "string") -> String {
        """
        {"name": "\(name)", "default": {},
         "schema": {"type": "object", "properties": {"text": {"type": "\(text)"}}, "additionalProperties": false}}
        """
    }

    private static let files = [
        "concierge.json": "{}", "flows/tour.json": tour("Welcome"), "services/note.json": service("note"),
    ]

    /// A server with files in a folder, and their path.
    private static func withServer(
        store: String = "memory", _ more: [String: String] = [:],
        _ body: (ServingProgram, String) async throws -> Void
    ) async throws {
        try await withFolder(files.merging(more) { $1 }) { _, folder in
            let path = store == "sqlite" ? "sqlite:\(folder)/sessions.db" : store
            let server = try await ServingProgram(["--config", "\(folder)/concierge.json", "--store", path])
            try await body(server, folder)
            try await server.end()
        }
    }

    /// Requests of every kind over one connection, until the end of a test.
    ///
    /// - Returns: how many; each was answered as without reloads, and the connection stayed open.
    private static func use(_ client: TestClient, until isOver: Ending) async throws -> Int {
        try await blocking {
            let connection = try RawConnection(port: client.port)
            func send(_ method: String, _ path: String, _ json: String? = nil) throws -> TestResponse {
                try connection.send(client.request(method, path, json: json))
                return try connection.readResponse()
            }
            let started = try send("POST", Paths.journeys, #"{"flow":"tour"}"#)
            guard let journey = started[member: "id"]?.string else { throw Failure(response: started) }
            var count = 1
            while !isOver.hasCome {
                for (method, path, json) in [
                    ("GET", Paths.service("note"), nil), ("PATCH", Paths.service("note"), #"{"text":"\#(count)"}"#),
                    ("POST", Paths.journey(journey) + "/events", #"{"event":"next"}"#),
                    ("GET", Paths.journey(journey), nil), ("GET", "/v1/flows", nil),
                    ("POST", Paths.journey(journey) + "/events", #"{"event":"back-to-start"}"#),
                ] as [(String, String, String?)] {
                    let response = try send(method, path, json)
                    guard response.status == 200, response["Connection"]?.lowercased() != "close" else {
                        throw Failure(response: response)
                    }
                    count += 1
                }
            }
            return count
        }
    }

    private struct Failure: Error { let response: TestResponse }

    private final class Ending: Sendable {
        private let flag = Atomic(false)
        var hasCome: Bool { flag.load(ordering: .acquiring) }
        func come() { flag.store(true, ordering: .releasing) }
    }

    private static func reload(_ server: ServingProgram) async throws -> TestResponse {
        try await server.admin.send("POST", "/v1/reload")
    }

    private static let nothing = """
        {"flows":{"added":[],"changed":[],"removed":[]},"services":{"added":[],"changed":[],"removed":[]},\
        "configuration":[],"needs_restart":[],"warnings":[]}
        """

    @Test(
        "an edited flow has its new screen for all journeys, and its new version for new ones; tags change with screens",
        arguments: ["memory", "sqlite"])
    func flow(store: String) async throws {
        try await Self.withServer(store: store) { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let journey = try await client.start("tour")
            let path = journey
            let before = try await client.get(path)
            #expect(before[member: "screen"]?[string: "title"] == "Welcome")
            #expect(try await Self.reload(server).text == Self.nothing)
            #expect(try await client.get(path, fields: [("If-None-Match", before["ETag"] ?? "")]).status == 304)
            // The same version.
            try save(Self.tour("Hello"), "\(folder)/flows/tour.json")
            let changed = try await Self.reload(server)
            #expect(
                changed[member: "flows"] == ["added": [], "changed": [["flow": "tour", "version": 1]], "removed": []])
            let after = try await client.get(path, fields: [("If-None-Match", before["ETag"] ?? "")])
            #expect(after.status == 200 && after[member: "screen"]?[string: "title"] == "Hello")
            let late = try await client.send(
                "POST", "\(path)/events", json: #"{"event":"next"}"#, fields: ifMatch(before))
            #expect(late.status == 412)
            // Another one: who has begun stays on the first.
            try save(Self.tour("Hi", version: 2, next: "other"), "\(folder)/flows/tour2.json")
            #expect(
                try await Self.reload(server)[member: "flows"]
                    == ["added": [["flow": "tour", "version": 2]], "changed": [], "removed": []])
            let (old, new) = (try await client.event("next", on: journey), try await client.start("tour"))
            #expect(old[member: "screen"]?[string: "id"] == "second" && old[member: "version"] == 1)
            let begun = try await client.get(new)
            #expect(begun[member: "screen"]?[string: "title"] == "Hi" && begun[member: "version"] == 2)
            #expect(try await client.event("next", on: new)[member: "screen"]?[string: "id"] == "other")
            #expect(try await client.get("/v1/flows/tour")[member: "version"] == 2)
            let described = try await client.get("/openapi.json").text
            #expect(described.contains("tour"))
        }
    }

    @Test("a tag ends with what it stands for: the file of a parent flow, and the default of a service never written")
    func tags() async throws {
        func parent(_ title: String) -> String {
            """
            {"id": "parent", "version": 1, "initial": "home", "states": {
               "home": {"title": "\(title)", "on": {"go": {"target": "visit"}}},
               "visit": {"type": "flow", "flow": "tour", "on": {"done": {"target": "home"}}}}}
            """
        }
        let note = #"{"name": "note", "default": {"text": "later"}, "schema": {"type": "object"}}"#
        let files = ["flows/parent.json": parent("Home"), "concierge.json": #"{"touch_interval": "0s"}"#]
        try await Self.withServer(files) { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let journey = try await client.start("parent")
            let before = try await client.event("go", on: journey)
            #expect(before.stack == ["home", "first"])
            func look(at path: String, _ seen: TestResponse) async throws -> TestResponse {
                try await client.get(path, fields: [("If-None-Match", seen["ETag"] ?? "")])
            }
            let unwritten = try await client.get(Paths.service("note"))
            #expect(try await look(at: journey, before).status == 304)
            #expect(try await look(at: Paths.service("note"), unwritten).status == 304)
            try save(parent("House"), "\(folder)/flows/parent.json")
            #expect(try await Self.reload(server).status == 200)
            let after = try await look(at: journey, before)
            #expect(after.status == 200)
            #expect(try await look(at: journey, after).status == 304)
            try save(note, "\(folder)/services/note.json")
            #expect(try await Self.reload(server).status == 200)
            let shown = try await look(at: journey, after)
            #expect(shown.status == 200 && shown.text.contains("later"))
            let other = try await look(at: Paths.service("note"), unwritten)
            #expect(other.status == 200 && other.text == #"{"text":"later"}"# && other["ETag"] == #""0""#)
            let late = try await client.send(
                "POST", "\(journey)/events", json: #"{"event":"next"}"#, fields: ifMatch(after))
            #expect(late.status == 412)
            // A look at what is known is still no use of the session.
            let id = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            func lastUse() async throws -> String? {
                try await server.admin.get("/v1/sessions/\(id)")[member: "last_used_at"]?.string
            }
            let used = try #require(try await lastUse())
            let end = ContinuousClock.now + .milliseconds(5)
            while ContinuousClock.now < end { _ = try await look(at: Paths.service("note"), unwritten) }
            #expect(try await lastUse() == used)
            #expect(try await client.get(Paths.service("note")).status == 200)
            #expect(try await lastUse() != used)
            let patched = try await client.patch(Paths.service("note"), #"{"more":1}"#)
            #expect(patched.text == #"{"more":1,"text":"later"}"#)
        }
    }

    @Test("the text of another version changes neither the text nor the tag of a journey on the version before")
    func languages() async throws {
        func tour(_ version: Int, _ german: String) -> String {
            Self.tour("Welcome", version: version)
                .replacing(#""title": "Welcome""#, with: #""title": {"en": "Welcome", "de": "\#(german)"}"#)
        }
        try await Self.withServer(["flows/tour.json": tour(1, "Hallo")]) { server, folder in
            let client = server.client.with(token: try await server.newToken()).with("Accept-Language", "de")
            let journey = try await client.start("tour")
            let before = try await client.get(journey)
            #expect(before[member: "screen"]?[string: "title"] == "Hallo")
            try save(tour(2, "Willkommen"), "\(folder)/flows/tour2.json")
            #expect(try await Self.reload(server).status == 200)
            let after = try await client.get(journey, fields: [("If-None-Match", before["ETag"] ?? "")])
            #expect(after.status == 304)
            #expect(try await client.get(journey)[member: "screen"]?[string: "title"] == "Hallo")
            #expect(
                try await client.get(try await client.start("tour"))[member: "screen"]?[string: "title"] == "Willkommen"
            )
            // As a condition of a write it stands for the state alone.
            let event = try await client.send(
                "POST", "\(journey)/events", json: #"{"event":"next"}"#, fields: ifMatch(before))
            #expect(event.status == 200)
        }
    }

    @Test("another order of languages is a change: the first one is for those who ask for none")
    func orderOfLanguages() async throws {
        func tour(_ title: String) -> String {
            Self.tour("Welcome").replacing(#""title": "Welcome""#, with: #""title": {\#(title)}"#)
        }
        try await Self.withServer(["flows/tour.json": tour(#""en": "Welcome", "de": "Hallo""#)]) { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let journey = try await client.start("tour")
            let before = try await client.get(journey)
            #expect(before[member: "screen"]?[string: "title"] == "Welcome")
            try save(tour(#""de": "Hallo", "en": "Welcome""#), "\(folder)/flows/tour.json")
            #expect(try await Self.reload(server).status == 200)
            let after = try await client.get(journey, fields: [("If-None-Match", before["ETag"] ?? "")])
            #expect(after[member: "screen"]?[string: "title"] == "Hallo")
        }
    }

    @Test(
        "a state that stays by name alone refuses the reload: a task is no screen",
        arguments: [
            #"{"type": "task", "task": "look", "on": {"done": {"target": "done"}}}"#,
            #"{"type": "choice", "branches": [{"target": "done"}]}"#, #"{"type": "final"}"#,
        ])
    func otherType(state: String) async throws {
        try await Self.withServer { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let journey = try await client.start("tour")
            let screen = #"{"title": "Welcome", "data": ["note"], "on": {"next": {"target": "second"}}}"#
            let file = Self.tour("Welcome").replacing(screen, with: state)
                .replacing(#", "nav": "pop_to""#, with: "")
            try save(file.replacing(#""initial": "first""#, with: #""initial": "second""#), "\(folder)/flows/tour.json")
            let refused = try await Self.reload(server)
            #expect(refused.status == 409, "\(refused.text)")
            #expect(refused.text.contains("tour 1: 1 journey would be lost"), "\(refused.text)")
            #expect(try await client.event("next", on: journey)[member: "screen"]?[string: "id"] == "second")
        }
    }

    @Test("who no longer wants journeys to start over is told which could not go on")
    func orphans() async throws {
        let restart = #"{"orphaned_journeys": "restart"}"#
        try await Self.withServer(store: "sqlite", ["concierge.json": restart]) { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let journey = try await client.start("tour")
            try save(Self.tour("Hi", version: 2), "\(folder)/flows/tour.json")
            #expect(try await Self.reload(server).status == 200)
            try save("{}", "\(folder)/concierge.json")
            let refused = try await Self.reload(server)
            #expect(refused.status == 409 && refused.text.contains("lost_journeys"), "\(refused.text)")
            // It has started over by then.
            #expect(try await client.get(journey)[member: "version"] == 2)
            #expect(try await Self.reload(server).status == 200)
        }
    }

    @Test("a changed command is taken over; one that a flow calls and that is gone is refused")
    func commands() async throws {
        func tally(_ command: String, by step: Int) -> String {
            """
            {"name": "tally", "access": "read_only", "default": {"count": 0},
             "schema": {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}},
             "commands": {"\(command)": {
               "actions": [{"op": "replace", "path": "/tally/count", "value": {"$add": ["/tally/count", \(step)]}}],
               "output": {"$from": "/tally/count"}}}}
            """
        }
        let flow = """
            {"id": "t", "version": 1, "initial": "a", "states": {
               "a": {"on": {"go": {"actions": [{"call": "tally/up"}]}}}}}
            """
        let files = ["services/tally.json": tally("up", by: 1), "flows/t.json": flow]
        try await Self.withServer(files) { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let call = "\(Paths.service("tally"))/commands/up"
            #expect(try await client.send("POST", call).json == ["output": 1])
            try save(tally("up", by: 10), "\(folder)/services/tally.json")
            #expect(
                try await Self.reload(server)[member: "services"] == ["added": [], "changed": ["tally"], "removed": []])
            #expect(try await client.send("POST", call).json == ["output": 11])
            let journey = try await client.start("t")
            #expect(try await client.send("POST", "\(journey)/events", json: #"{"event":"go"}"#).status == 200)
            #expect(try await client.get(Paths.service("tally"))[member: "count"] == 21)
            try save(tally("down", by: -1), "\(folder)/services/tally.json")
            let refused = try await Self.reload(server)
            #expect(refused.status == 409 && refused.text.contains("unknown_command"), "\(refused.text)")
            #expect(try await client.send("POST", call).json == ["output": 31])
        }
    }

    @Test("a sign-out removes what a user has in a service that is gone for a while", arguments: ["memory", "sqlite"])
    func signOut(store: String) async throws {
        let basket = """
            {"name": "basket", "bound_to": "user", "default": {}, "schema": {"type": "object"}}
            """
        try await Self.withServer(store: store, ["services/basket.json": basket]) { server, folder in
            let created = try await server.client.send("POST", Paths.sessions)
            let user = "/v1/sessions/\(created[member: "session"]?[string: "id"] ?? "")/user"
            let signedIn = try await server.admin.send("PUT", user, json: #"{"user_id":"ada"}"#)
            let client = server.client.with(token: try #require(signedIn[member: "token"]?.string))
            #expect(try await client.send("PUT", Paths.service("basket"), json: #"{"of":"ada"}"#).status == 200)
            #expect(try await client.send("PUT", Paths.service("note"), json: #"{"text":"kept"}"#).status == 200)
            unlink("\(folder)/services/basket.json")
            #expect(try await Self.reload(server).status == 200)
            let signedOut = try await server.admin.send("DELETE", user)
            let token = signedOut[member: "token"]?.string
            let guest = token.map(server.client.with(token:)) ?? client
            try save(basket, "\(folder)/services/basket.json")
            #expect(try await Self.reload(server).status == 200)
            #expect(try await guest.get(Paths.service("basket")).text == "{}")
            #expect(try await guest.get(Paths.service("note")).text == #"{"text":"kept"}"#)
        }
    }

    @Test("what is stored stays, also of a service that is gone for a while", arguments: ["memory", "sqlite"])
    func services(store: String) async throws {
        try await Self.withServer(store: store) { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let (note, basket) = (Paths.service("note"), Paths.service("basket"))
            #expect(try await client.send("PUT", note, json: #"{"text":"kept"}"#).status == 200)
            #expect(try await client.get(basket).status == 404)
            try save(Self.service("basket"), "\(folder)/services/basket.json")
            #expect(
                try await Self.reload(server)[member: "services"] == [
                    "added": ["basket"], "changed": [], "removed": [],
                ])
            #expect(try await client.get(basket).text == "{}")
            let written = try await client.send("PUT", basket, json: #"{"text":"apples"}"#)
            unlink("\(folder)/services/basket.json")
            #expect(
                try await Self.reload(server)[member: "services"] == [
                    "added": [], "changed": [], "removed": ["basket"],
                ])
            #expect(try await client.get(basket).status == 404)
            #expect(try await client.send("PUT", basket, json: "{}").status == 404)
            let listed = try await client.get(Paths.services)
            #expect(listed.items.allSatisfy { $0[string: "name"] != "basket" })
            // Not even this removes what nobody sees.
            #expect(try await client.send("DELETE", Paths.services).status == 204)
            #expect(try await client.get(note).text == "{}")
            try save(Self.service("basket"), "\(folder)/services/basket.json")
            // A schema that what is written does not fit.
            #expect(try await client.send("PUT", note, json: #"{"text":"old"}"#).status == 200)
            try save(Self.service("note", text: "integer"), "\(folder)/services/note.json")
            #expect(
                try await Self.reload(server)[member: "services"]
                    == ["added": ["basket"], "changed": ["note"], "removed": []])
            let again = try await client.get(basket)
            #expect(again.text == #"{"text":"apples"}"# && again["ETag"] == written["ETag"])
            #expect(try await client.get(note).text == #"{"text":"old"}"#)
            #expect(try await client.send("PUT", note, json: #"{"text":"new"}"#).status == 400)
            #expect(try await client.send("PUT", note, json: #"{"text":7}"#).status == 200)
            let kinds = try await server.admin.get("/v1/service-kinds").items
            let live = kinds.filter { ["note", "basket"].contains($0[string: "name"]) }.map { $0[member: "live"]?.int }
            #expect(live == [1, 1])
        }
    }

    @Test("documents of the process are there from the reload on that declares them")
    func process() async throws {
        try await Self.withServer { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let menu = #"{"name": "menu", "scope": "process", "schema": {"type": "object"}, "default": {"a": 1}}"#
            try save(menu, "\(folder)/services/menu.json")
            #expect(try await Self.reload(server).status == 200)
            #expect(try await client.get(Paths.service("menu")).text == #"{"a":1}"#)
            #expect(try await server.admin.send("PUT", "/v1/services/menu", json: #"{"a":2}"#).status == 200)
            #expect(try await client.get(Paths.service("menu")).text == #"{"a":2}"#)
            unlink("\(folder)/services/menu.json")
            #expect(try await Self.reload(server).status == 200)
            #expect(try await client.get(Paths.service("menu")).status == 404)
            try save(menu, "\(folder)/services/menu.json")
            #expect(try await Self.reload(server).status == 200)
            #expect(try await client.get(Paths.service("menu")).text == #"{"a":2}"#)
        }
    }

    @Test("a refused reload says everything that is wrong, and changes nothing; the next good one is taken over")
    func refused() async throws {
        try await Self.withServer { server, folder in
            let client = server.client.with(token: try await server.newToken())
            let journey = try await client.start("tour")
            try save(#"{"port": 1, "prot": 2}"#, "\(folder)/concierge.json")
            try save(
                Self.tour("Hello", next: "third").replacing("done", with: "gone"), "\(folder)/flows/tour.json")
            try save("{", "\(folder)/services/note.json")
            try save(Self.service("basket"), "\(folder)/services/basket.json")
            let refused = try await Self.reload(server)
            #expect(refused.status == 409 && refused.code == "reload_refused")
            let errors = try #require(refused[member: "errors"]?.elements)
            let checked = try await ProgramProcess.run(["check", "--config", "\(folder)/concierge.json"])
            let lines = errors.map { error in
                let pointer = error[string: "pointer"] ?? ""
                return "\(error[string: "place"] ?? ""): \(error[string: "severity"] ?? ""): "
                    + "\(pointer.isEmpty ? "" : "\(pointer) ")\(error[string: "code"] ?? ""): "
                    + "\(error[string: "detail"] ?? "")"
            }
            #expect(lines == checked.lines.map(String.init) && lines.count >= 2)
            server.process.send(SIGHUP)
            let logged = try await server.process.line(of: "reload_refused")
            #expect(logged[string: "detail"] == lines.first)
            #expect(try await client.get(journey)[member: "screen"]?[string: "title"] == "Welcome")
            #expect(try await client.get(Paths.service("basket")).status == 404)
            // A journey stands on a screen that is gone.
            try save("{}", "\(folder)/concierge.json")
            try save(Self.service("note"), "\(folder)/services/note.json")
            try save(
                Self.tour("Hello").replacing(#""first""#, with: #""begin""#), "\(folder)/flows/tour.json")
            let lost = try await Self.reload(server)
            #expect(lost.status == 409)
            let finding = try #require(lost[member: "errors"]?.elements?.first)
            #expect(finding[string: "code"] == "lost_journeys")
            let against = try await ProgramProcess.run([
                "check", "--config", "\(folder)/concierge.json", "--against", "http://127.0.0.1:\(server.admin.port)",
            ])
            #expect(against.output.contains(finding[string: "detail"] ?? "-"))
            // Or on a version that is.
            unlink("\(folder)/flows/tour.json")
            #expect(try await Self.reload(server).status == 409)
            #expect(try await client.get("/v1/flows/tour").status == 200)
            try save(Self.tour("Hello"), "\(folder)/flows/tour.json")
            #expect(try await Self.reload(server).status == 200)
            #expect(try await client.get(journey)[member: "screen"]?[string: "title"] == "Hello")
            #expect(try await client.get(Paths.service("basket")).status == 200)
        }
    }

    @Test("keys that can be are in force, and the others are named until the restart")
    func keys() async throws {
        try await Self.withServer { server, folder in
            #expect(try await server.client.get("/v1/flows").status == 200)
            try save(
                """
                {"flows_public": false, "session_lifetime": "2h", "log": {"level": "warning"},
                 "cors": {"allowed_origins": ["https://shop.example"]}, "admin": {"key": "a-key-with-two-dozen-bytes"}}
                """, "\(folder)/concierge.json")
            for _ in 0..<2 {
                let reload = try await Self.reload(server)
                #expect(reload[member: "needs_restart"] == ["session_lifetime", "session_lifetime_max", "admin.key"])
            }
            #expect(try await server.client.get("/v1/flows").status == 401)
            let page = try await server.client.get("/version", fields: [("Origin", "https://shop.example")])
            #expect(page["Access-Control-Allow-Origin"] == "https://shop.example")
            // Listed once: by now it is in force.
            #expect(try await Self.reload(server)[member: "configuration"] == [])
            try save("{}", "\(folder)/concierge.json")
            #expect(
                try await Self.reload(server)[member: "configuration"]
                    == ["flows_public", "cors.allowed_origins", "log.level"])
            let other = try await server.client.get("/version", fields: [("Origin", "https://shop.example")])
            #expect(other["Access-Control-Allow-Origin"] == nil)
        }
    }

    @Test("of two servers each is reloaded by itself: what only one knows stays, and is shown once the other knows it")
    func twoServers() async throws {
        let redis = try RedisTestServer()
        try await withFolder(Self.files) { _, folder in
            func start() async throws -> ServingProgram {
                try await ServingProgram([
                    "--config", "\(folder)/concierge.json", "--store", "redis://127.0.0.1:\(redis.port)",
                ])
            }
            let (one, two) = (try await start(), try await start())
            let token = try await one.newToken()
            let (here, there) = (one.client.with(token: token), two.client.with(token: token))
            let (note, basket) = (Paths.service("note"), Paths.service("basket"))
            try save(Self.service("basket"), "\(folder)/services/basket.json")
            try save(Self.tour("Hi", version: 2, next: "other"), "\(folder)/flows/tour2.json")
            #expect(try await Self.reload(one).status == 200)
            let written = try await here.send("PUT", basket, json: #"{"text":"apples"}"#)
            let journey = try await here.start("tour")
            // The other one writes beside what it does not know.
            #expect(try await there.get(basket).status == 404)
            #expect(try await there.send("PUT", note, json: #"{"text":"b"}"#).status == 200)
            #expect(try await there.get(journey)[member: "status"] == "stuck")
            #expect(try await there.send("DELETE", Paths.services).status == 204)
            #expect(try await here.get(basket)["ETag"] == written["ETag"])
            #expect(try await Self.reload(two).status == 200)
            #expect(try await there.get(basket).text == #"{"text":"apples"}"#)
            let shown = try await there.get(journey)
            #expect(shown[member: "version"] == 2)
            #expect(try await here.get(journey)["ETag"] == shown["ETag"])
            #expect(try await there.event("next", on: journey).screen == "other")
            // What journeys in the store need counts for every server.
            unlink("\(folder)/flows/tour2.json")
            #expect(try await Self.reload(one).status == 409)
            for server in [one, two] { try await server.end() }
        }
    }

    @Test(
        "under load no request fails and no connection is closed, and an open stream goes on", .timeLimit(.minutes(5)))
    func load() async throws {
        let count = getenv("RELOADS").flatMap { Int(String(cString: $0)) } ?? 10
        try await Self.withServer { server, folder in
            let token = try await server.newToken()
            let client = server.client.with(token: token)
            let stream = try await EventReader.open(client)
            let journey = try await client.start("tour")
            let ending = Ending()
            // Also when this throws: the others would go on for ever.
            defer { ending.come() }
            let tokens = [token, try await server.newToken(), try await server.newToken(), try await server.newToken()]
            try await withThrowingTaskGroup(of: Int.self) { group in
                for token in tokens {
                    group.addTask { try await Self.use(server.client.with(token: token), until: ending) }
                }
                for number in 0..<count {
                    // Flow and service change at each reload, and a service comes and goes.
                    try save(Self.tour("Number \(number)"), "\(folder)/flows/tour.json")
                    if number % 2 == 0 {
                        try save(Self.service("basket"), "\(folder)/services/basket.json")
                    } else {
                        unlink("\(folder)/services/basket.json")
                    }
                    let reload = try await Self.reload(server)
                    try #require(reload.status == 200, "\(reload.text)")
                    let shown = try await client.get(journey)
                    #expect(shown[member: "screen"]?[string: "title"] == "Number \(number)")
                }
                ending.come()
                var requests = 0
                for try await done in group { requests += done }
                #expect(requests > count)
                print("\(count) reloads, \(requests) requests, none failed")
            }
            try await client.event("next", on: journey)
            let id = journey.split(separator: "/").last.map(String.init)
            var event = try await stream.next()
            while let other = event, other["journey"]?.string != id || other["step"]?.int != 2 {
                event = try await stream.next()
            }
            #expect(event?.name == "journey.moved")
            stream.close()
            let counted = try await server.admin.get("/metrics").text
            #expect(counted.contains(#"route="/v1/reload",status="200"} \#(count)"#))
        }
    }
}
