import Configuration
import Glibc
import HTTPServer
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("Tasks, sent to a back end")
struct SentTaskTests {
    /// A journey on the first screen of the login, whose password is checked by a receiver.
    private static func withLogin(
        timeout: Duration = .seconds(5), concurrency: Int = 16,
        _ respond: @escaping @Sendable (WebhookReceiver.Message, Int) async throws -> HTTPResponse,
        _ body: (RunningApplication, TestClient, WebhookReceiver, String) async throws -> Void
    ) async throws {
        // Retries without waiting.
        let flow = TaskFlows.login.replacing(#""after": "2s""#, with: #""after": "1ms""#)
        try await WebhookReceiver.run(respond) { receiver in
            try await withApplication(flows: [flow]) { configuration in
                configuration.tasks["check-password"].url = receiver.url
                configuration.tasks["check-password"].secret = WebhookSecret(WebhookReceiver.secret)
                configuration.tasks["check-password"].timeout = timeout
                configuration.tasks["check-password"].concurrency = concurrency
            } _: { app in
                let client = try await app.newSession().client
                try await body(app, client, receiver, try await client.start("login"))
            }
        }
    }

    /// Waits until the journey shows a screen.
    private static func awaiting(_ screen: String, _ journey: String, _ client: TestClient) async throws -> TestResponse
    {
        var shown = try await client.get(journey)
        while shown.status == 200, shown.screen != screen, let tag = shown["ETag"] {
            shown = try await client.get(journey, fields: [("If-None-Match", tag), ("Prefer", "wait=30")])
        }
        guard shown.screen == screen else { throw NeverShown(screen: screen) }
        return shown
    }

    struct NeverShown: Error { let screen: String }

    @Test("a POST with the headers and the signature of Standard Webhooks; 200 with an outcome ends the task")
    func result() async throws {
        try await Self.withLogin { _, _ in
            .json(#"{"outcome":"ok","output":{"name":"Ada"}}"#)
        } _: { app, client, receiver, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            let home = try await Self.awaiting("home", journey, client)
            #expect(home[member: "screen"]?[member: "data"]?[member: "profile"]?[string: "name"] == "Ada")
            let message = try #require(receiver.messages.first)
            #expect(receiver.messages.count == 1 && message.isGenuine)
            #expect(abs(message.timestamp - Int64(time(nil))) < 60)
            #expect(message.task[string: "id"] == message.id && message.task[string: "task"] == "check-password")
            #expect(message.task[member: "input"] == ["name": "ada", "password": "secret"])
            #expect(message.task[member: "attempt"] == 1)
        }
    }

    @Test(
        "anything else is tried again, with the same webhook-id; after the last attempt the task has failed",
        arguments: [500, 204, 301])
    func retries(status: Int) async throws {
        try await Self.withLogin { _, _ in
            var response = HTTPResponse(HTTPStatus(UInt16(status)))
            if status == 301 { response.fields.add(.location, "/elsewhere") }
            return response
        } _: { app, client, receiver, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            let sorry = try await Self.awaiting("sorry", journey, client)
            #expect(sorry.text.contains("The back end responded with status \(status)."))
            #expect(receiver.messages.count == 3 && receiver.messages.allSatisfy(\.isGenuine))
            #expect(Set(receiver.messages.map(\.id)).count == 1)
            #expect(receiver.messages.map { $0.task[member: "attempt"]?.int } == [1, 2, 3])
        }
    }

    @Test("a later attempt may succeed, also after a response that is none")
    func recovery() async throws {
        try await Self.withLogin { _, count in
            count == 0 ? .json("nonsense") : .json(#"{"outcome":"wrong"}"#)
        } _: { app, client, receiver, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            _ = try await Self.awaiting("password", journey, client)
            #expect(receiver.messages.count == 2)
        }
    }

    @Test("4xx is failed, whatever attempts are left", arguments: [400, 404, 499])
    func refused(status: Int) async throws {
        try await Self.withLogin { _, _ in
            HTTPResponse(HTTPStatus(UInt16(status)))
        } _: { app, client, receiver, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            _ = try await Self.awaiting("sorry", journey, client)
            #expect(receiver.messages.count == 1)
        }
    }

    @Test("202 means that the result will be posted: nobody else gets the task, and the post ends it")
    func accepted() async throws {
        try await Self.withLogin { _, _ in
            HTTPResponse(HTTPStatus(202))
        } _: { app, client, receiver, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            let admin = app.admin()
            var listed: [JSONDocument] = []
            // The lease ends with the 202: the server has read it soon after the receiver has sent it.
            while listed.first?[member: "lease_expires_at"] != .null {
                listed = try await admin.get("/v1/tasks?status=claimed").items
            }
            let task = try #require(listed.first)
            #expect(try await admin.post("result", of: task, #"{"outcome":"ok","output":{"name":"x"}}"#).status == 204)
            #expect(try await client.get(journey).screen == "home" && receiver.messages.count == 1)
        }
    }

    @Test("a response that is too large or comes too late is a failed attempt")
    func bounds() async throws {
        try await Self.withLogin(timeout: .milliseconds(200)) { _, count in
            if count == 0 { try await Task.sleep(for: .seconds(2)) }
            return count == 1
                ? HTTPResponse(body: [UInt8](repeating: 32, count: 300_000)) : .json(#"{"outcome":"wrong"}"#)
        } _: { app, client, receiver, journey in
            try await client.event("submit", TaskFlows.submit, on: journey)
            _ = try await Self.awaiting("password", journey, client)
            #expect(receiver.messages.map { $0.task[member: "attempt"]?.int } == [1, 2, 3])
        }
    }

    @Test("no more requests than allowed are under way at once, and tasks that nobody sends are fetched as ever")
    func concurrency() async throws {
        let most = Most()
        let two = Event()
        try await Self.withLogin(concurrency: 2) { _, _ in
            await most.enter()
            if await most.count == 2 { two.happen() }
            await two.wait()
            // Time for a third one, if it were allowed.
            try await Task.sleep(for: .milliseconds(20))
            await most.leave()
            return .json(#"{"outcome":"wrong"}"#)
        } _: { app, client, receiver, journey in
            var journeys = [journey]
            for _ in 0..<7 { journeys.append(try await client.start("login")) }
            for journey in journeys { try await client.event("submit", TaskFlows.submit, on: journey) }
            for journey in journeys { _ = try await Self.awaiting("password", journey, client) }
            #expect(await most.count == 2 && receiver.messages.count == 8)
            try await client.event("ask", on: journey)
            #expect(try await app.admin().claim("slow").count == 1)
        }
    }

    private actor Most {
        private(set) var count = 0
        private var inside = 0

        func enter() {
            inside += 1
            count = max(count, inside)
        }

        func leave() { inside -= 1 }
    }

    @Test("a back end that cannot be reached is a failed attempt, and the flow learns no more than that")
    func unreachable() async throws {
        let flow = TaskFlows.login.replacing(#""after": "2s""#, with: #""after": "1ms""#)
        try await withSession(flows: [flow]) { configuration in
            // Nothing listens on port 1.
            configuration.tasks["check-password"].url = "http://127.0.0.1:1/secret-path"
            configuration.tasks["check-password"].secret = WebhookSecret(WebhookReceiver.secret)
        } _: { client in
            let journey = try await client.start("login")
            try await client.event("submit", TaskFlows.submit, on: journey)
            let sorry = try await Self.awaiting("sorry", journey, client)
            #expect(sorry.text.contains("The back end could not be reached.") && !sorry.text.contains("secret-path"))
        }
    }

    @Test("a server that stops waits for requests in progress, for as long as for its own")
    func draining() async throws {
        let begun = Event()
        let flow = TaskFlows.login.replacing(#""attempts": 3"#, with: #""attempts": 1"#)
        try await withFolder([:]) { _, folder in
            try await WebhookReceiver.run { _, _ in
                begun.happen()
                // The server begins to stop meanwhile.
                try await Task.sleep(for: .milliseconds(300))
                return .json(#"{"outcome":"wrong"}"#)
            } _: { receiver in
                let configure = { (configuration: inout Configuration) in
                    configuration.store = .sqlite("\(folder)/sessions.db")
                    configuration.tasks["check-password"].url = receiver.url
                    configuration.tasks["check-password"].secret = WebhookSecret(WebhookReceiver.secret)
                }
                let (token, journey) = try await withApplication(flows: [flow], configure) { app in
                    let (client, _, token) = try await app.newSession()
                    let journey = try await client.start("login")
                    try await client.event("submit", TaskFlows.submit, on: journey)
                    await begun.wait()
                    return (token, journey)
                }
                try await withApplication(flows: [flow], configure) { app in
                    let shown = try await app.client().with(token: token).get(journey)
                    #expect(shown.screen == "password")
                    #expect(receiver.messages.count == 1)
                }
            }
        }
    }

    @Test("a server that stops while a request is under way sends the task again after its next start")
    func stopping() async throws {
        let begun = Event()
        try await withFolder([:]) { _, folder in
            try await WebhookReceiver.run { _, count in
                if count == 0 {
                    begun.happen()
                    try await Task.sleep(for: .seconds(30))
                }
                return .json(#"{"outcome":"wrong"}"#)
            } _: { receiver in
                let clock = SteeredClock()
                let configure = { (configuration: inout Configuration) in
                    configuration.store = .sqlite("\(folder)/sessions.db")
                    configuration.drainTimeout = .zero
                    configuration.tasks["check-password"].url = receiver.url
                    configuration.tasks["check-password"].secret = WebhookSecret(WebhookReceiver.secret)
                }
                let (token, journey) = try await withApplication(flows: [TaskFlows.login], clock: clock, configure) {
                    app in
                    let (client, _, token) = try await app.newSession()
                    let journey = try await client.start("login")
                    try await client.event("submit", TaskFlows.submit, on: journey)
                    await begun.wait()
                    return (token, journey)
                }
                // The lease of the first attempt is over.
                clock.advance(.seconds(16))
                try await withApplication(flows: [TaskFlows.login], clock: clock, configure) { app in
                    let client = app.client().with(token: token)
                    _ = try await Self.awaiting("password", journey, client)
                    #expect(receiver.messages.count == 2)
                }
            }
        }
    }
}
