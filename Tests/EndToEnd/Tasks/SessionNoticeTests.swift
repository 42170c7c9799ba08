import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("Notices of sessions")
struct SessionNoticeTests {
    @Test("fetched like tasks, also when the session has ended", arguments: TaskTests.Store.allCases)
    func fetched(store: TaskTests.Store) async throws {
        try await withFolder([:]) { _, folder in
            try await withApplication {
                if store == .sqlite { $0.store = .sqlite("\(folder)/sessions.db") }
                $0.sessionNotices = "feed"
            } _: { app in
                let (client, admin) = (try await app.newSession().client, app.admin())
                let id = try #require(try await client.get(Paths.current)[member: "id"]?.string)
                let path = "/v1/sessions/\(id)"
                #expect(try await admin.send("PUT", "\(path)/user", json: #"{"user_id":"ada"}"#).status == 200)
                #expect(try await admin.send("DELETE", path).status == 204)
                let listed = try await admin.get("/v1/tasks?task=feed").items
                #expect(listed.map { $0[member: "user_id"] } == [.null, "ada", "ada"])
                #expect(listed.allSatisfy { $0[member: "journey"] == nil && $0[string: "session"] == id })
                let items = try await admin.claim("feed", max: 10)
                #expect(items.map { $0[string: "id"] } == listed.map { $0[string: "id"] })
                #expect(
                    items.map { $0[member: "input"]?[string: "event"] } == [
                        "session.created", "session.signed_in", "session.ended",
                    ])
                #expect(items.map { $0[member: "input"]?[string: "reason"] } == [nil, nil, "requested"])
                #expect(items.allSatisfy { isTimestamp($0[member: "input"]?[string: "at"]) })
                #expect(items.map { $0[member: "session"]?[member: "user_id"] } == [.null, "ada", "ada"])
                #expect(items.allSatisfy { $0[member: "journey"] == nil })
                for item in items {
                    #expect(try await admin.post("result", of: item, #"{"outcome":"received"}"#).status == 204)
                    #expect(try await admin.post("result", of: item, #"{"outcome":"received"}"#).status == 410)
                }
                #expect(try await admin.get("/v1/tasks").items.isEmpty)
            }
        }
    }

    @Test("sent like tasks, until a back end says that it has them: a 4xx does not")
    func sent() async throws {
        try await WebhookReceiver.run { _, count in
            HTTPResponse(HTTPStatus(count == 0 ? 404 : 204))
        } _: { receiver in
            try await withApplication {
                $0.sessionNotices = "feed"
                $0.tasks["feed"].url = receiver.url
                $0.tasks["feed"].secret = WebhookSecret(WebhookReceiver.secret)
            } _: { app in
                let (client, admin) = (try await app.newSession().client, app.admin())
                let id = try #require(try await client.get(Paths.current)[member: "id"]?.string)
                #expect(try await client.send("DELETE", Paths.current).status == 204)
                // The second attempt comes after a second.
                while try await !admin.get("/v1/tasks").items.isEmpty { await Task.yield() }
                let messages = receiver.messages
                #expect(messages.count == 3 && messages.allSatisfy(\.isGenuine))
                #expect(Set(messages.map(\.id)).count == 2)
                #expect(messages.allSatisfy { $0.task[member: "session"]?[string: "id"] == id })
                #expect(
                    Set(messages.map { $0.task[member: "input"]?[string: "event"] }) == [
                        "session.created", "session.ended",
                    ])
            }
        }
    }
}
