import FlowTools
import Navigation
import Testing

@testable import Sessions

// What is left of a deleted session, in every store.
extension SessionStoreContract {
    private static let trip = #"""
        { "id": "trip", "version": 1, "initial": "a", "portable": true,
          "states": {
            "a": { "on": { "begin": {"target": "busy"} } },
            "busy": { "type": "task", "task": "work", "timeout": "1h", "on": {"done": {"target": "b"}} },
            "b": { "on": {"end": {"target": "z"}} },
            "z": { "type": "final" } } }
        """#

    private static func sessions(_ store: any SessionStore) throws -> Sessions {
        let catalog = try ServiceCatalog()
        let file = FlowFile(name: "trip.json", bytes: Array(Self.trip.utf8))
        let (flows, problems) = FlowLoader(services: catalog.directory).load([file])
        return Sessions(
            catalog: catalog, store: store,
            journeys: JourneySettings(
                engine: FlowEngine(catalog: try #require(flows, "\(problems)")), mainFlow: "trip"))
    }

    @Test(
        "the result of a task whose journey has moved is taken after the session from which it came is deleted",
        arguments: stores)
    func remains(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let first = try Self.sessions(store)
        let (source, token) = try await first.create()
        try await source.send("begin", toJourney: "main")
        _ = try await first.attachUser("ada", to: source)
        let (target, _) = try await first.create()
        _ = try await first.attachUser("ada", to: target)
        let task = try #require(
            try await first.claimTasks(named: "work", max: 1, lease: 600_000, wait: 0).first?.task.id)
        let claim = JourneyClaim.user("ada", journey: "main")
        let there = try await first.moveJourney(claim, of: source.id, into: target).text.view.id
        #expect(try await first.end(source))
        // Nothing of it is in memory here.
        let second = try Self.sessions(store)
        #expect(try await second.session(source.id) == nil)
        await #expect(throws: SessionError.unauthenticated) {
            _ = try await second.authenticate(PresentedToken(token.text))
        }
        #expect(try await store.sessions(ofUser: "ada").map(\.record.id) == [target.id])
        try await second.endTask(task, outcome: "ok")
        let arrived = try #require(try await second.session(target.id))
        #expect(try await arrived.journey(there).view.screen?.id == "b")
        #expect(try await second.removeRemains(of: source.id))
        #expect(try await store.load(source.id) == nil)
    }
}
