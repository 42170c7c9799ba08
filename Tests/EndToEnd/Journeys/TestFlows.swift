import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

/// Small flows for the tests of journeys.
enum TestFlows {
    /// Three screens, the first of which signs in.
    static let wizard = """
        {"id": "wizard", "version": 1, "description": "Sign in and finish", "initial": "start",
         "guards": {"named": {"service": "profile", "schema": {"properties": {"name": {"minLength": 1}}}}},
         "on": {"cancel": {"target": "cancelled"}},
         "timeout": {"idle": "30m", "total": "12h"},
         "states": {
           "start": {"screen": "Start", "title": "Who are you?", "data": ["profile"],
             "accepts": {"sign_in": {"type": "object", "required": ["name"],
                                     "properties": {"name": {"type": "string", "maxLength": 20}}}},
             "on": {"sign_in": {"target": "page1", "actions": [
                      {"op": "add", "path": "/profile/name", "value": {"$from": "/event/name"}}]},
                    "skip": {"target": "page1", "guard": "named"}}},
           "page1": {"screen": "Page", "data": ["profile"], "requires": ["named"],
             "on": {"next": {"target": "page2"}}},
           "page2": {"screen": "Page", "data": ["profile"], "requires": ["named"],
             "on": {"finish": {"target": "done", "guard": "named"}}},
           "cancelled": {"type": "final", "outcome": "cancelled"},
           "done": {"type": "final", "output": {"by": {"$from": "/profile/name"}}}}}
        """

    /// Takes an amount, and shows what time it was asked for until.
    static let order = """
        {"id": "order", "version": 2, "initial": "list", "timeout": {"idle": "10m"},
         "input": {"type": "object", "required": ["amount"],
                   "properties": {"amount": {"type": "integer", "minimum": 1}}, "additionalProperties": false},
         "states": {"list": {"on": {"buy": {"target": "bought"}}}, "bought": {"type": "final"}}}
        """

    /// It may be given an input, and needs none.
    static let note = """
        {"id": "note", "version": 1, "initial": "text",
         "input": {"type": "object", "properties": {"author": {"type": "string"}}},
         "states": {"text": {"on": {"close": {"target": "closed"}}}, "closed": {"type": "final"}}}
        """
}

/// An application with the three flows, whose `main` is the wizard, and a new session.
func withWizard(
    main: String? = "wizard", clock: (any SessionClock)? = nil, _ configure: (inout Configuration) -> Void = { _ in },
    _ body: (RunningApplication, TestClient) async throws -> Void
) async throws {
    let flows = [TestFlows.wizard, TestFlows.order, TestFlows.note]
    try await withApplication(flows: flows, clock: clock) { configuration in
        configuration.mainFlow = main
        configure(&configuration)
    } _: { app in
        try await body(app, try await app.newSession().client)
    }
}

extension TestClient {
    /// Starts a journey.
    /// - Returns: its path.
    func start(_ flow: String, input: String = "{}") async throws -> String {
        let started = try await send("POST", Paths.journeys, json: #"{"flow":"\#(flow)","input":\#(input)}"#)
        return try #require(started["Location"])
    }

    @discardableResult
    func event(
        _ name: String, _ data: String? = nil, on journey: String,
        fields: [(name: String, value: String)] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let data = data.map { #","data":\#($0)"# } ?? ""
        return try await send(
            "POST", "\(journey)/events", json: #"{"event":"\#(name)"\#(data)}"#, fields: fields,
            sourceLocation: sourceLocation)
    }
}

extension TestResponse {
    /// The id of the screen that a journey shows.
    var screen: String? { self[member: "screen"]?[string: "id"] }

    /// The ids of the screens on a journey's stack, from the bottom up.
    var stack: [String] { (self[member: "stack"]?.elements ?? []).compactMap { $0[string: "screen"] } }

    var step: Int? { self[member: "step"]?.int }

    /// What the screen shows of a service.
    func shown(_ service: String) -> JSONDocument? { self[member: "screen"]?[member: "data"]?[member: service] }
}

func ifMatch(_ answer: TestResponse) -> [(name: String, value: String)] { [("If-Match", answer["ETag"] ?? "")] }
