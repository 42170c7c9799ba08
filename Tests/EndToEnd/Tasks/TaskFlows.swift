import HTTPTestClient
import JSONDocument
import Support
import Testing

/// Flows whose work is done by somebody else.
enum TaskFlows {
    /// A password that a back end checks, and events that only a back end sends.
    static let login = """
        {"id": "login", "version": 1, "initial": "password", "backend": ["locked"],
         "on": {"locked": {"target": "locked"}, "cancel": {"target": "cancelled"}},
         "states": {
           "password": {"accepts": {"submit": {"required": ["name", "password"]}},
             "on": {"submit": {"target": "checking"}, "ask": {"target": "slow"}}},
           "checking": {"type": "task", "task": "check-password", "title": "One moment",
             "input": {"name": {"$from": "/event/name"}, "password": {"$from": "/event/password"}},
             "timeout": "20s", "retry": {"attempts": 3, "after": "2s", "factor": 2},
             "on": {"done.ok": {"target": "home", "actions": [
                      {"op": "replace", "path": "/profile/name", "value": {"$from": "/output/name"}}]},
                    "done.wrong": {"target": "password", "nav": "pop_to"},
                    "done.failed": {"target": "sorry", "actions": [
                      {"op": "replace", "path": "/profile/name", "value": {"$from": "/output/reason"}}]},
                    "done.timeout": {"target": "sorry"}}},
           "slow": {"type": "task", "task": "slow", "back": true, "on": {"done": {"target": "home"}}},
           "home": {"data": ["profile"], "on": {"again": {"target": "checking"}, "leave": {"target": "cancelled"}}},
           "sorry": {"data": ["profile"], "on": {"again": {"target": "password", "nav": "pop_to"}}},
           "locked": {"type": "final"}, "cancelled": {"type": "final"}}}
        """

    static let submit = #"{"name": "ada", "password": "secret"}"#
}

/// A server with one flow, and a journey of it.
///
/// - Parameter body: gets the server, a client with the journey, one of the admin listener, and the journey's path.
func withJourney(
    of name: String, _ flow: String, _ store: TaskTests.Store, _ clock: SteeredClock,
    _ body: (RunningApplication, TestClient, TestClient, String) async throws -> Void
) async throws {
    try await withFolder([:]) { _, folder in
        try await withApplication(flows: [flow], clock: clock) {
            if store == .sqlite { $0.store = .sqlite("\(folder)/sessions.db") }
        } _: { app in
            let client = try await app.newSession().client
            try await body(app, client, app.admin(), try await client.start(name))
        }
    }
}

extension TestClient {
    /// The first task of a status, once there is one: time goes by meanwhile.
    func awaiting(_ status: String, _ clock: SteeredClock) async throws -> JSONDocument {
        for _ in 0..<500 {
            if let task = try await get("/v1/tasks?status=\(status)").items.first { return task }
            clock.advance(.milliseconds(100))
        }
        Issue.record("no task is \(status)")
        return .null
    }

    /// Claims tasks, as a back end.
    func claim(
        _ task: String, max: Int = 1, lease: String = "30s", wait: String = "0s"
    ) async throws -> [JSONDocument] {
        let answer = try await send(
            "POST", "/v1/tasks/claims",
            json: #"{"task":"\#(task)","max":\#(max),"lease":"\#(lease)","wait":"\#(wait)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.items
    }

    /// Posts something about a task.
    func post(_ what: String, of task: JSONDocument, _ json: String) async throws -> TestResponse {
        try await send("POST", "/v1/tasks/\(task[string: "id"] ?? "")/\(what)", json: json)
    }
}
