import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// What the console is shown.
extension ConsoleTests {
    static let key = "0123456789abcdef-key"

    static let order = """
        {"id": "order", "version": 1, "initial": "basket", "states": {
           "basket": {"title": "Your basket", "data": ["profile"],
             "on": {"pay": {"target": "paying"}, "look": {"target": "looking"},
                    "give": {"target": "thanks", "guard": {"service": "profile", "schema":
                      {"properties": {"email": {"type": "string"}}}}}}},
           "looking": {"type": "flow", "flow": "catalogue", "on": {"done": {"target": "basket", "nav": "pop_to"}}},
           "paying": {"type": "task", "task": "charge-card", "retry": {"attempts": 3, "after": "1h"},
                      "on": {"done.paid": {"target": "thanks"}, "done.failed": {"target": "sorry"}}},
           "thanks": {"on": {"close": {"target": "closed"}}}, "sorry": {"on": {"again": {"target": "paying"}}},
           "closed": {"type": "final"}}}
        """
    static let catalogue = """
        {"id": "catalogue", "version": 1, "initial": "shelf", "states": {
           "shelf": {"on": {"enough": {"target": "over"}}}, "over": {"type": "final"}}}
        """

    static func withConsole(
        hasKey: Bool = false, expecting: [String] = [], _ body: (Browser) async throws -> Void
    ) async throws {
        try await withBrowser(expecting: expecting, flows: [order, catalogue]) { configuration in
            if hasKey { configuration.admin.key = Secret(key) }
        } _: { browser in
            try await body(browser)
        }
    }

    struct Person {
        let client: TestClient
        let session: String
        let journey: String

        func send(_ event: String) async throws -> TestResponse {
            try await client.send("POST", "\(journey)/events", json: #"{"event":"\#(event)"}"#)
        }

        /// The journey's page of the console.
        var page: String { "#/journey/\(session)/\(journey.split(separator: "/").last ?? "")" }
    }

    /// A journey of flow `order`.
    static func order(
        by user: String = "ada", _ browser: Browser, key: String? = nil
    ) async throws -> Person {
        let id = try await browser.app.newSession().id
        let admin = key.map { browser.app.admin().with("X-Admin-Key", $0) } ?? browser.app.admin()
        let body: JSONDocument = ["user_id": JSONDocument(user), "claims": .emptyObject]
        let signedIn = try await admin.send(
            "PUT", "/v1/sessions/\(id)/user", json: String(decoding: body.serialized(), as: UTF8.self))
        let client = browser.app.client().with(token: try #require(signedIn[member: "token"]?.string))
        let started = try await client.send("POST", "/v1/sessions/current/journeys", json: #"{"flow":"order"}"#)
        return Person(client: client, session: id, journey: try #require(started["Location"]))
    }

    /// The same, which hangs in its task.
    static func hanging(
        by user: String = "ada", because reason: String = "the bank does not answer", _ browser: Browser
    ) async throws -> Person {
        let person = try await order(by: user, browser)
        #expect(try await person.send("pay").status == 200)
        let admin = browser.app.admin()
        let task = try await admin.send("POST", "/v1/tasks/claims", json: #"{"task":"charge-card"}"#).items.first
        let id = try #require(task?[string: "id"])
        let body: JSONDocument = ["reason": JSONDocument(reason)]
        let failed = try await admin.send(
            "POST", "/v1/tasks/\(id)/failure", json: String(decoding: body.serialized(), as: UTF8.self))
        #expect(failed.status == 204)
        return person
    }
}
