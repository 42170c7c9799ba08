import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Synchronization
import Testing

/// Writes of a store that commits within the call are synchronous. Clients see no difference.
@Suite("Synchronous writes")
struct SynchronousWritingTests {
    private struct Step: Sendable {
        let method: String
        let path: String
        var json: String?
        var fields: [(name: String, value: String)] = []
    }

    private static let merge = (name: "Content-Type", value: "application/merge-patch+json")

    private static let steps = [
        Step(method: "PATCH", path: Paths.profile, json: #"{"name":"Ada"}"#, fields: [merge]),
        Step(method: "PATCH", path: Paths.profile, json: #"{"name":"#, fields: [merge]),
        Step(method: "PATCH", path: Paths.profile, json: #"{"name":1}"#, fields: [merge]),
        Step(method: "PATCH", path: Paths.profile, json: "{}", fields: [("Content-Type", "text/plain")]),
        Step(
            method: "PATCH", path: Paths.profile, json: #"[{"op":"test","path":"/name","value":"Bob"}]"#,
            fields: [("Content-Type", "application/json-patch+json")]),
        Step(method: "PATCH", path: Paths.user, json: "{}", fields: [merge]),
        Step(method: "PATCH", path: Paths.service("nothing"), json: "{}", fields: [merge]),
        Step(method: "PUT", path: Paths.profile, json: #"{"name":"Bob"}"#, fields: [("If-Match", "\"9\"")]),
        Step(method: "PUT", path: Paths.profile, json: #"{"name":"Bob"}"#, fields: [("If-Match", "\"2\"")]),
        Step(method: "PUT", path: Paths.profile, json: #"{"name":"Eve"}"#, fields: [("If-None-Match", "*")]),
        Step(method: "PUT", path: Paths.profile, json: #"{"name":"Eve"}"#, fields: [("If-Match", "x")]),
        Step(method: "PUT", path: Paths.profile, json: #"{"name":"Cy"}"#, fields: [("Prefer", "return=minimal")]),
        Step(method: "GET", path: Paths.profile),
        Step(method: "DELETE", path: Paths.profile + "/state"),
        Step(method: "GET", path: Paths.profile),
        Step(method: "DELETE", path: Paths.profile),
        Step(method: "DELETE", path: Paths.profile, fields: [("If-Match", "\"1\"")]),
        Step(method: "DELETE", path: Paths.user),
        Step(method: "GET", path: "/v1/sessions/ses_00000000000000000000000000000000"),
        Step(method: "POST", path: Paths.sessions, json: #"{"mode":"carrier pigeon"}"#),
        Step(method: "POST", path: Paths.sessions, json: #"{"labels":{"a":1}}"#),
        Step(method: "DELETE", path: Paths.current),
        Step(method: "PATCH", path: Paths.profile, json: "{}", fields: [merge]),
        Step(method: "GET", path: Paths.current),
    ]

    /// The responses of an application, without what differs from request to request.
    private static func responses(_ app: RunningApplication) async throws -> [String] {
        let client = try await app.newSession().client
        var responses: [String] = []
        for step in steps {
            let answer = try await client.send(step.method, step.path, json: step.json, fields: step.fields)
            let text = try answer.body.isEmpty ? "" : answer.json.withoutRequestID
            responses.append("\(step.method) \(step.path): \(answer.status) \(answer["ETag"] ?? "-") \(text)")
        }
        return responses
    }

    @Test("have the same responses as writes that wait for the store")
    func sameResponses() async throws {
        let synchronous = try await withApplication(store: MemoryStore()) { try await Self.responses($0) }
        let deferred = try await withApplication(store: SteeredStore()) { try await Self.responses($0) }
        for (one, other) in zip(synchronous, deferred) { #expect(one == other) }
        #expect(synchronous.count == deferred.count)
    }

    @Test("a store that takes time is waited for, also when it refuses a write")
    func steered() async throws {
        let store = SteeredStore()
        try await withApplication(store: store) { app in
            let client = try await app.newSession().client
            let asked = Counter()
            store.before { call async throws(StoreError) in
                guard call == .commit else { return }
                await Task.yield()
                if asked.next() == 2 { throw .unavailable("gone fishing") }
            }
            #expect(try await client.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
            #expect(try await client.patch(Paths.profile, #"{"name":"Eve"}"#).status == 503)
            #expect(try await client.get(Paths.profile)[member: "name"] == "Ada")
            #expect(asked.count == 2)
        }
    }

    @Test("clients that write one session at once lose no write")
    func parallelClients() async throws {
        try await withApplication(services: [try ServiceFile(name: "notes", default: [])]) { app in
            let token = try await app.newSession().token
            let (clients, writes) = (4, 25)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<clients {
                    group.addTask {
                        let client = app.client().with(token: token)
                        for _ in 0..<writes {
                            let answer = try await client.send(
                                "PATCH", Paths.service("notes"), json: #"[{"op":"add","path":"/-","value":1}]"#,
                                fields: [("Content-Type", "application/json-patch+json")])
                            #expect(answer.status == 200)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let notes = try await app.client().with(token: token).get(Paths.service("notes")).json
            #expect(notes.elements?.count == clients * writes)
        }
    }

    @Test("a session is shown with all its members, whatever it has of user and labels")
    func sessionText() async throws {
        try await withApplication { app in
            let members = [
                "id", "created_at", "last_used_at", "idle_expires_at", "expires_at", "user_id", "labels", "revision",
            ]
            for body in ["{}", #"{"labels":{"a":"b"}}"#] {
                let created = try await app.client().send("POST", Paths.sessions, json: body)
                #expect(try created.json.members?.map(\.name) == ["session", "token"])
                let session = try #require(created[member: "session"])
                #expect(session.members?.map(\.name) == members.sorted())
                #expect(created["Location"] == session[member: "id"]?.string.map { "/v1/sessions/\($0)" })
                for time in members where time.hasSuffix("_at") { #expect(isTimestamp(session[member: time]?.string)) }
                let token = try #require(created[member: "token"]?.string)
                let id = try #require(session[member: "id"]?.string)
                _ = try await app.signIn("ada", to: id)
                let shown = try await app.admin().get("/v1/sessions/\(id)")
                #expect(try shown.json.members?.map(\.name) == members.sorted())
                #expect(shown[member: "user_id"] == "ada")
                #expect(shown[member: "labels"] == session[member: "labels"])
                #expect(token.utf8.count == 67)
            }
        }
    }
}

/// Counts what a store is asked.
private final class Counter: Sendable {
    private let value = Atomic<Int>(0)
    var count: Int { value.load(ordering: .relaxed) }
    func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension JSONDocument {
    /// A problem's document without what differs from request to request.
    fileprivate var withoutRequestID: String {
        let members = (members ?? []).filter { $0.name != "request_id" && $0.name != "instance" }
        return String(decoding: JSONDocument(members: members).serialized(), as: UTF8.self)
    }
}
