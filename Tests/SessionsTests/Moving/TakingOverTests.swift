import JSONDocument
import Navigation
import Synchronization
import Testing

@testable import Sessions

/// What can come between the check of a move and its end.
@Suite("Taking over")
struct TakingOverTests {
    private static let trip = #"""
        { "id": "trip", "version": 1, "initial": "a", "portable": true,
          "states": {
            "a": { "on": { "begin": {"target": "busy"} } },
            "busy": { "type": "task", "task": "work", "timeout": "1h", "on": {"done": {"target": "b"}} },
            "b": { "on": {"end": {"target": "z"}} },
            "z": { "type": "final" } } }
        """#

    private func fixture(_ store: any SessionStore = MemoryStore()) throws -> SessionsFixture {
        try SessionsFixture(
            store: store, clock: ManualClock(isStill: true), flows: [Self.trip, Flows.loop], mainFlow: "loop")
    }

    private func signedIn(_ user: String, in fixture: SessionsFixture) async throws -> Session {
        let session = try await fixture.session()
        _ = try await fixture.sessions.attachUser(user, to: session)
        return session
    }

    @Test("a journey of a user does not arrive where somebody else has signed in meanwhile", arguments: ["bob", nil])
    func otherUser(user: String?) async throws {
        let store = StoreWrapper()
        let fixture = try fixture(store)
        let source = try await signedIn("ada", in: fixture)
        let journey = try await source.startJourney(flow: "trip").view.id
        let target = try await signedIn("ada", in: fixture)
        let commits = Atomic(0)
        store.beforeCommit.withLock { hook in
            hook = { commit throws(StoreError) in
                // While the journey leaves.
                guard commit.record.id == source.id, commits.wrappingAdd(1, ordering: .relaxed).newValue == 1 else {
                    return
                }
                do {
                    if let user {
                        _ = try await fixture.sessions.attachUser(user, to: target)
                    } else {
                        _ = try await fixture.sessions.detachUser(from: target)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        await #expect(throws: JourneyError.notFound(journey)) {
            try await fixture.sessions.moveJourney(.user("ada", journey: journey), of: source.id, into: target)
        }
        store.letGo()
        #expect(try await !target.journeys().contains { $0.flow == "trip" })
        #expect(try await source.journey(journey).view.screen?.id == "a")
    }

    @Test("a task is not handed out while its journey leaves, and is ready where it has come to")
    func claimMeanwhile() async throws {
        let store = StoreWrapper()
        let fixture = try fixture(store)
        let source = try await fixture.session()
        let journey = try await source.startJourney(flow: "trip").view.id
        try await source.send("begin", toJourney: journey)
        let link = try #require(
            PresentedLink(try await source.makeLink(toJourney: journey, lifetime: 60_000).link.text))
        let target = try await fixture.session()
        let claimed = Mutex<[Int]>([])
        store.beforeCommit.withLock { hook in
            hook = { commit throws(StoreError) in
                guard commit.record.id == source.id else { return }
                do {
                    let claims = try await fixture.sessions.claimTasks(named: "work", max: 9, lease: 60_000, wait: 0)
                    claimed.withLock { $0.append(claims.count) }
                } catch {
                    Issue.record(error)
                }
            }
        }
        _ = try await fixture.sessions.moveJourney(.link(link), of: source.id, into: target)
        store.letGo()
        #expect(claimed.withLock(\.self).first == 0)
        let all = try await fixture.sessions.tasks(limit: 9)
        #expect(all.map(\.id.session) == [target.id] && all.allSatisfy { $0.attempt <= 1 })
    }

    @Test("a task that came with a challenge goes along, and signs nobody in")
    func challenged() async throws {
        let fixture = try fixture()
        let source = try await fixture.session()
        let journey = try await source.startJourney(flow: "trip").view.id
        _ = try await withUnsafeThrowingContinuation { waiting in
            source.send("begin", toJourney: journey, challenge: String(repeating: "c", count: 43)) {
                waiting.resume(with: $0)
            }
        }
        let link = try #require(
            PresentedLink(try await source.makeLink(toJourney: journey, lifetime: 60_000).link.text))
        let target = try await fixture.session()
        let there = try await fixture.sessions.moveJourney(.link(link), of: source.id, into: target).text.view
        #expect(there.screen?.id == "busy")
        let claims = try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0)
        let task = try #require(claims.first).task.id
        try await fixture.sessions.endTask(task, outcome: "ok")
        #expect(try await target.journey(there.id).view.screen?.id == "b")
    }

    @Test("a result that was kept is not a failure when the store could not note it", arguments: ["ok", "wrong"])
    func unnotedResult(outcome: String) async throws {
        let store = StoreWrapper()
        let flow = #"""
            { "id": "pay", "version": 1, "initial": "a",
              "states": {
                "a": { "on": { "begin": {"target": "busy"} } },
                "busy": { "type": "task", "task": "work", "timeout": "1h",
                  "outcomes": {"ok": {}}, "on": {"done.ok": {"target": "b", "actions": [
                    {"op": "replace", "path": "/counter/count", "value": {"$from": "/output/n"}}]},
                    "done.failed": {"target": "sorry"}, "done.timeout": {"target": "sorry"}} },
                "b": { "on": {"end": {"target": "z"}} },
                "sorry": { "on": {"end": {"target": "z"}} },
                "z": { "type": "final" } } }
            """#
        let fixture = try SessionsFixture(
            store: store, clock: ManualClock(isStill: true), flows: [flow, Flows.loop], mainFlow: "loop")
        let session = try await fixture.session()
        let journey = try await session.startJourney(flow: "pay").view.id
        try await session.send("begin", toJourney: journey)
        let claims = try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0)
        let task = try #require(claims.first).task.id
        store.refusesToHold.withLock { $0 = true }
        // The service takes no text; of the other outcome the flow has none.
        _ = try? await fixture.sessions.endTask(task, outcome: outcome, output: ["n": "no number"])
        store.refusesToHold.withLock { $0 = false }
        fixture.clock.advance(60_001)
        await fixture.sessions.sweepTasks()
        #expect(try await session.journey(journey).view.screen?.id == "busy")
        let held = try #require(try await fixture.sessions.tasks(limit: 9).first)
        #expect(held.isKept)
        #expect(try #require(try await fixture.sessions.details(of: held)).notes?.result?.isHeld == true)
        // An operator ends it.
        try await fixture.sessions.failTask(task, attempt: nil, reason: "lost", isFinal: true)
        #expect(try await session.journey(journey).view.screen?.id == "sorry")
    }
}
