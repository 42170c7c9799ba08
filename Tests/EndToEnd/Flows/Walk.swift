import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

/// Somebody on a journey over HTTP, who looks at every answer.
///
/// ```swift
/// let walk = try await Walk(of: "wizard", by: client)
/// try await walk.send("sign_in", ["name": "Ada"], to: "page1")
/// try await walk.back(to: "start")
/// ```
struct Walk {
    let client: TestClient
    /// The journey's.
    let path: String

    /// Starts a journey.
    init(of flow: String, input: JSONDocument = .emptyObject, by client: TestClient) async throws {
        self.init(at: try await client.start(flow, input: input.description), by: client)
    }

    /// Goes on with one that there is.
    init(at path: String, by client: TestClient) {
        self.client = client
        self.path = path
    }

    /// Where the journey is.
    @discardableResult
    func look() async throws -> TestResponse { try await client.get(path) }

    /// Sends an event that leads to that screen, or stays on it.
    @discardableResult
    func send(
        _ event: String, _ data: JSONDocument? = nil, to screen: String, fields: [(name: String, value: String)] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let answer = try await client.event(
            event, data?.description, on: path, fields: fields, sourceLocation: sourceLocation)
        #expect(answer.status == 200, "\(event): \(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.screen == screen, "after \(event)", sourceLocation: sourceLocation)
        return answer
    }

    @discardableResult
    func back(to screen: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> TestResponse {
        try await send("back", to: screen, sourceLocation: sourceLocation)
    }

    /// Sends an event that ends the journey with that outcome.
    @discardableResult
    func finish(
        _ event: String, _ data: JSONDocument? = nil, outcome: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let answer = try await client.event(event, data?.description, on: path, sourceLocation: sourceLocation)
        #expect(answer[member: "status"] == "finished", "\(event): \(answer.text)", sourceLocation: sourceLocation)
        #expect(answer[member: "outcome"]?.string == outcome, sourceLocation: sourceLocation)
        #expect(answer.stack.isEmpty, sourceLocation: sourceLocation)
        return answer
    }

    /// Sends an event that is refused, which leaves everything as it was.
    @discardableResult
    func refused(
        _ event: String, _ data: JSONDocument? = nil, code: String, at pointers: [String] = [],
        fields: [(name: String, value: String)] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let before = try await look()
        let answer = try await client.event(
            event, data?.description, on: path, fields: fields, sourceLocation: sourceLocation)
        #expect(answer.code == code, "\(event): \(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.pointers == pointers, sourceLocation: sourceLocation)
        #expect(try await look().text == before.text, "something has happened", sourceLocation: sourceLocation)
        return answer
    }

    /// Follows a deep link, by way of these screens.
    @discardableResult
    func navigate(
        to screen: String, by way: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let answer = try await client.send(
            "POST", "\(path)/navigation", json: #"{"to":"\#(screen)"}"#, sourceLocation: sourceLocation)
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.screen == screen, sourceLocation: sourceLocation)
        #expect(answer[member: "path"]?.elements?.compactMap(\.string) == way, sourceLocation: sourceLocation)
        return answer
    }

    /// Follows a deep link that leads nowhere as things are.
    @discardableResult
    func unreachable(
        _ screen: String, blockedBy blocker: String, at pointers: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let before = try await look()
        let answer = try await client.send(
            "POST", "\(path)/navigation", json: #"{"to":"\#(screen)"}"#, sourceLocation: sourceLocation)
        #expect(answer.status == 409, sourceLocation: sourceLocation)
        #expect(answer.code == "unreachable", "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer[member: "screen"]?.string == blocker, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(answer.pointers == pointers, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(try await look().text == before.text, sourceLocation: sourceLocation)
        return answer
    }
}

extension TestResponse {
    /// Why it would not take one; nil when it would, or when there is no such event.
    func why(not event: String) -> [String]? {
        events.first { $0[string: "name"] == event }?[member: "why"]?.elements?.compactMap { $0[string: "pointer"] }
    }

    /// What the screen shows of a service.
    func shown(_ service: String) -> JSONDocument? { self[member: "screen"]?[member: "data"]?[member: service] }

    /// The flows of the live coordinators, parents first.
    var coordinators: [String] {
        func flows(_ coordinator: JSONDocument) -> [String] {
            [coordinator[string: "flow"] ?? ""] + (coordinator[member: "children"]?.elements ?? []).flatMap(flows)
        }
        return self[member: "coordinators"].map { $0.isNull ? [] : flows($0) } ?? []
    }

    private var events: [JSONDocument] { self[member: "events"]?.elements ?? [] }
}

/// A whole application with the services and flows that come with it, and a new session.
///
/// - Parameter sessionIdle: how long a session may rest, when that is not what the walk is about.
func withShippedFlows(
    clock: any SessionClock = SystemClock(), sessionIdle: Duration = .seconds(1800),
    _ body: (RunningApplication, TestClient) async throws -> Void
) async throws {
    try await withApplication(
        services: try ShippedFiles.services(), flows: try ShippedFiles.flows(), clock: clock,
        { configuration in
            configuration.mainFlow = "main"
            configuration.sessionIdleTimeout = sessionIdle
        },
        { app in try await body(app, try await app.newSession().client) })
}

func ifMatch(_ answer: TestResponse) -> [(name: String, value: String)] { [("If-Match", answer["ETag"] ?? "")] }

func key(_ key: String) -> [(name: String, value: String)] { [("Idempotency-Key", key)] }
