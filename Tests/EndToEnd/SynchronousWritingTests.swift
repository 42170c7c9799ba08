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
}

extension JSONDocument {
    /// A problem's document without what differs from request to request.
    fileprivate var withoutRequestID: String {
        let members = (members ?? []).filter { $0.name != "request_id" && $0.name != "instance" }
        return String(decoding: JSONDocument(members: members).serialized(), as: UTF8.self)
    }
}
