import Foundation
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

/// Signing in from a flow, as clients and back ends do it.
enum SigningIn {
    /// `submit` leads to a task, `load` to a second one behind it, `ask` to a screen first.
    static let flow = """
        {"id": "enter", "version": 1, "initial": "name",
         "states": {
           "name": {"on": {"submit": {"target": "checking"}}},
           "checking": {"type": "task", "task": "check", "retry": {"attempts": 3},
             "on": {"done.ok": {"target": "home"}, "done.load": {"target": "loading"}, "done.ask": {"target": "asked"},
                    "done.wrong": {"target": "name", "nav": "pop_to"}, "done.failed": {"target": "sorry"},
                    "done.bad": {"target": "home", "actions": [
                      {"op": "add", "path": "/profile/name", "value": {"$from": "/output/name"}}]}}},
           "loading": {"type": "task", "task": "load", "on": {"done": {"target": "home"}}},
           "asked": {"on": {"go": {"target": "loading"}}},
           "home": {"data": ["user"], "on": {"submit": {"target": "checking"}, "leave": {"target": "out"}}},
           "sorry": {"on": {"leave": {"target": "out"}}},
           "out": {"type": "final"}}}
        """

    /// Appendix B of RFC 7636.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let otherVerifier = String(repeating: "other~", count: 8)
    static let otherChallenge = challenge(of: otherVerifier)

    static func challenge(of verifier: String) -> String {
        Data(SHA256Digest(of: verifier.utf8).bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    static func verifying(_ verifier: String) -> String { #"{"verifier":"\#(verifier)"}"# }

    static func result(_ outcome: String = "ok", user: String? = "ada", output: String = "null") -> String {
        let signIn = user.map { #","sign_in":{"user_id":"\#($0)","claims":{"name":"Ada"}}"# } ?? ""
        return #"{"outcome":"\#(outcome)","output":\#(output)\#(signIn)}"#
    }
}

/// A session in which an event has led to a task that checks who it is.
struct Entrance {
    let app: RunningApplication
    let clock: SteeredClock
    /// With the token from before the sign-in.
    let old: TestClient
    let session: String
    let token: String
    let journey: String

    var admin: TestClient { app.admin() }

    static func with(
        _ store: TaskTests.Store = .memory, challenge: String? = SigningIn.challenge,
        _ body: (Entrance) async throws -> Void
    ) async throws {
        let clock = SteeredClock()
        try await withFolder([:]) { _, folder in
            try await withApplication(flows: [SigningIn.flow, TestFlows.wizard], clock: clock) {
                if store == .sqlite { $0.store = .sqlite("\(folder)/sessions.db") }
            } _: { app in
                let (client, id, token) = try await app.newSession()
                let entrance = Entrance(
                    app: app, clock: clock, old: client, session: id, token: token,
                    journey: try await client.start("enter"))
                #expect(try await entrance.submit(challenge).status == 200)
                try await body(entrance)
            }
        }
    }

    @discardableResult
    func submit(_ challenge: String?, _ event: String = "submit", by client: TestClient? = nil) async throws
        -> TestResponse
    {
        let challenge = challenge.map { #","challenge":"\#($0)""# } ?? ""
        return try await (client ?? old).send(
            "POST", "\(journey)/events", json: #"{"event":"\#(event)"\#(challenge)}"#)
    }

    /// Posts the result of the task.
    @discardableResult
    func end(_ result: String = SigningIn.result(), task: String = "check") async throws -> TestResponse {
        let task = try #require(try await admin.claim(task).first)
        return try await admin.post("result", of: task, result)
    }

    /// The task once its result is held.
    func held() async throws -> JSONDocument { try await admin.awaiting("held", clock) }

    func exchange(
        _ verifier: String? = SigningIn.verifier, fields: [(name: String, value: String)] = []
    ) async throws -> TestResponse {
        try await old.send("POST", Paths.tokens, json: verifier.map(SigningIn.verifying), fields: fields)
    }

    /// A client with the token that an exchange has given.
    func client(after exchange: TestResponse) throws -> TestClient {
        #expect(exchange.status == 201, "\(exchange.text)")
        return app.client().with(token: try #require(exchange[member: "token"]?.string))
    }
}
