import Configuration
import JSONDocument
import Support
import Testing

/// What the line of a request says of its reason.
@Suite("Requests in the log say why")
struct LogReasonTests {
    private static func withLog(
        _ change: (inout Configuration.Log) -> Void = { _ in },
        _ body: (RunningApplication) async throws -> Void
    ) async throws -> [JSONDocument] {
        var settings = Configuration().log
        change(&settings)
        let file = try LogFile(settings)
        try await withApplication(flows: [TestFlows.wizard, HeldTaskTests.flow], log: file, { _ in }, body)
        return try file.documents()
    }

    /// The lines of requests to routes that end so.
    private static func requests(_ lines: [JSONDocument], to suffix: String) -> [JSONDocument] {
        lines.filter { $0[string: "event"] == "request" && $0[string: "route"]?.hasSuffix(suffix) == true }
    }

    private static let place = ["flow", "journey", "journey_event", "from", "to", "code"]

    @Test("a call of a journey says which, the event, from where to where, and the code of a refusal")
    func journeys() async throws {
        let lines = try await Self.withLog { app in
            let client = try await app.newSession().client
            let journey = try await client.start("order")
            try await client.get(journey)
            try await client.event("pay", on: journey)
            try await client.event("hunter2", on: journey)
            try await client.send("POST", "\(journey)/navigation", json: #"{"to":"thanks"}"#)
            try await client.event("cancel", on: journey)
            try await client.event("cancel", on: journey)
            try await client.get("\(Paths.current)/journeys/hunter2")
            let main = try await client.start("wizard")
            try await client.send("PUT", main, json: #"{"flow":"order"}"#)
            try await client.send("DELETE", main)
        }
        func said(_ suffix: String) -> [[String?]] {
            Self.requests(lines, to: suffix).map { line in Self.place.map { line[string: $0] } }
        }
        let journey = try #require(Self.requests(lines, to: "/journeys").first?[string: "journey"])
        let other = try #require(Self.requests(lines, to: "/journeys").last?[string: "journey"])
        #expect(
            said("/journeys") == [
                ["order", journey, nil, nil, "basket", nil], ["wizard", other, nil, nil, "start", nil],
            ])
        #expect(
            said("/events") == [
                ["order", journey, "pay", "basket", "paying", nil],
                // What a client has made up is not written.
                ["order", journey, nil, "paying", nil, "event_not_accepted"],
                ["order", journey, "cancel", "paying", "(finished)", nil],
                ["order", journey, "cancel", nil, nil, "journey_finished"],
            ])
        #expect(said("/navigation") == [["order", journey, nil, "paying", nil, "unreachable"]])
        #expect(
            said("/journeys/{id}") == [
                ["order", journey, nil, nil, nil, nil], [nil, nil, nil, nil, nil, "journey_not_found"],
                ["wizard", other, nil, "start", "order:basket", nil], ["order", other, nil, "basket", nil, nil],
            ])
        #expect(!lines.contains { "\($0)".contains("hunter2") })
    }

    @Test(
        "a call of a task says which and its failure, and a result that is held says why, as the line of its own does")
    func tasks() async throws {
        let lines = try await Self.withLog { app in
            let (client, admin) = (try await app.newSession().client, app.admin())
            try await client.event("pay", on: try await client.start("order"))
            #expect(try await admin.claim("none").isEmpty)
            let task = try #require(try await admin.claim("charge").first)
            let failure = String(repeating: "x", count: 300)
            #expect(
                try await admin.post("failure", of: task, #"{"reason":"\#(failure)","retry_after":"0s"}"#).status == 204
            )
            let again = try #require(try await admin.claim("charge", wait: "5s").first)
            // The quote may not be a number.
            let held = #"{"outcome":"paid","output":{"reference":1}}"#
            #expect(try await admin.post("result", of: again, held).status == 202)
        }
        let claims = Self.requests(lines, to: "/claims")
        #expect(claims.map { $0[string: "task"] } == [nil, "charge", "charge"])
        let failed = try #require(Self.requests(lines, to: "/failure").first)
        #expect(failed[string: "task"] == "charge" && failed[string: "session_id"]?.hasPrefix("ses_") == true)
        #expect(failed[string: "failure"] == String(repeating: "x", count: 256) + "…")
        let held = try #require(Self.requests(lines, to: "/result").first)
        let own = try #require(lines.first { $0[string: "event"] == "task_held" })
        for line in [held, own] {
            #expect(line[string: "task"] == "charge" && line[string: "journey"]?.hasPrefix("jrn_") == true)
            #expect(line[string: "session_id"] == failed[string: "session_id"])
        }
        #expect(held[string: "code"] == "invalid_state")
        #expect(own[string: "outcome"] == "paid" && own[string: "detail"]?.isEmpty == false)
    }

    @Test("a refused request has the problem's code", arguments: [true, false])
    func codes(ofAll: Bool) async throws {
        let lines = try await Self.withLog {
            $0.requests = ofAll
        } _: { app in
            let client = try await app.newSession().client
            try await client.patch(Paths.profile, #"{"name":1}"#)
            try await app.client().get(Paths.profile)
            try await client.get("/nowhere")
        }
        let codes = lines.filter { $0[string: "event"] == "request" }.map { $0[string: "code"] }
        #expect(codes == (ofAll ? [nil, "invalid_state", "unauthenticated", "not_found"] : []))
    }

    @Test("a user is named by a hash with a key, by the id, or not at all", arguments: Configuration.Log.Users.allCases)
    func users(shown: Configuration.Log.Users) async throws {
        let key = try #require(UserHashKey("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="))
        let lines = try await Self.withLog {
            $0.users = shown
            $0.usersKey = key
        } _: { app in
            let (client, id, _) = try await app.newSession()
            try await client.get(Paths.profile)
            let token = try await app.signIn("ada", to: id)
            try await app.client().with(token: token).get(Paths.profile)
            try await app.admin().get("/v1/users/ada/sessions")
            try await app.admin().get("/v1/sessions?user_id=ada")
        }
        let expected: String? =
            switch shown {
            case .plain: "ada"
            // printf %s ada | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102…1f
            case .hash: "9556fd532c3b9e35076ea008688401f9"
            case .none: nil
            }
        #expect(Self.requests(lines, to: "/services/{name}").map { $0[string: "user"] } == [nil, expected])
        let reads = lines.filter { $0[string: "event"] == "admin_read" }
        #expect(reads.map { $0[string: "user"] } == [expected, expected])
        #expect(lines.contains { "\($0)".contains("ada") } == (shown == .plain))
    }

    @Test("without a key a user has one hash while the process runs, and another one in the next process")
    func ephemeral() async throws {
        var hashes: [String] = []
        for _ in 0..<2 {
            let lines = try await Self.withLog { app in
                let token = try await app.signIn("ada", to: try await app.newSession().id)
                let client = app.client().with(token: token)
                for _ in 0..<2 { try await client.get(Paths.profile) }
            }
            let found = Self.requests(lines, to: "/services/{name}").compactMap { $0[string: "user"] }
            #expect(found.count == 2 && found[0] == found[1] && found[0].count == 32)
            hashes += found
        }
        #expect(Set(hashes).count == 2)
    }
}
