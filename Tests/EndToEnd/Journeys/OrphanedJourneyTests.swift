import JSONDocument
import Sessions
import Support
import Testing

@Suite("Journeys whose flows are gone")
struct OrphanedJourneyTests {
    private static func flow(version: Int, screen: String) -> String {
        #"{"id":"tour","version":\#(version),"initial":"\#(screen)","states":{"\#(screen)":{"on":{"end":{"#
            + #""target":"z"}}},"z":{"type":"final"}}}"#
    }

    /// A store with a session in it that runs version 1; and that session's token.
    private static func filled() async throws -> (store: MemoryStore, token: String) {
        let store = MemoryStore()
        let token = try await withApplication(flows: [flow(version: 1, screen: "a")], store: store) { app in
            let session = try await app.newSession()
            #expect(
                try await session.client.send("PUT", Paths.main, json: #"{"flow":"tour"}"#).status == 201)
            return session.token
        }
        return (store, token)
    }

    @Test("start over, where the configuration says so")
    func restart() async throws {
        let (store, token) = try await Self.filled()
        let log = try LogFile()
        try await withApplication(
            flows: [Self.flow(version: 2, screen: "b")], store: store, log: log
        ) {
            $0.orphanedJourneys = .restart
        } _: { app in
            let shown = try await app.client().with(token: token).get(Paths.main)
            #expect(shown.status == 200)
            #expect(shown.screen == "b")
            #expect(shown[member: "version"] == 2)
            #expect(try #require(shown.step) > 1)
        }
        #expect(log.lines().contains { $0.contains("\"orphaned_journeys\"") })
    }
}
