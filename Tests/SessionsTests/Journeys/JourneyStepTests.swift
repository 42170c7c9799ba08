import JSONDocument
import Navigation
import Testing

@testable import Sessions

@Suite("Steps of journeys")
struct JourneyStepTests {
    private static let signIn: JSONDocument = ["name": "Ada"]

    @Test("a move and what it does to services are one commit")
    func oneCommit() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard])
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        let started = try await session.startJourney(flow: "wizard")
        #expect(started.view.screen?.id == "start" && started.view.step == 1 && started.revision == 2)
        let id = started.view.id
        #expect(id.hasPrefix("jrn_") && id.utf8.count == 36)
        let shown = try await session.send("sign_in", data: Self.signIn, toJourney: id)
        #expect(shown.view.screen?.id == "page1" && shown.view.step == 2)
        #expect(shown.view.screen?["profile"]?[member: "name"] == "Ada")
        #expect(shown.revision == 3 && session.revision == 3)
        #expect(try fixture.get("profile", session).etag.revision == 3)
        #expect(try fixture.get("coordinator", session).etag.revision == 3)
        #expect(try await fixture.store.load(session.id)?.record.services.count == 2)
        #expect(
            spy.changes.suffix(3) == [
                .serviceChanged(name: "profile", etag: .init(revision: 3)),
                .serviceChanged(name: "coordinator", etag: .init(revision: 3)), .journeyMoved(id: id, step: 2),
            ])
    }

    @Test("without waiting it is the same, where the store need not be waited for")
    func atOnce() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard])
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "wizard").view.id
        let shown = try session.sendAtOnce("sign_in", data: Self.signIn, toJourney: id)
        #expect(shown?.etag == (try session.residentJourney(id)?.etag))
        #expect(try session.residentJourney(id)?.bytes == shown?.bytes)
        #expect(throws: JourneyError.self) {
            try session.sendAtOnce("next", toJourney: id, condition: .atStep(1))
        }
        let store = StoreWrapper()
        let slow = try SessionsFixture(store: store, flows: [Flows.wizard])
        let other = try await slow.session()
        let otherID = try await other.startJourney(flow: "wizard").view.id
        let (departures, departure) = AsyncStream.makeStream(of: Void.self)
        store.beforeCommit.withLock { $0 = { _ in for await _ in departures { return } } }
        #expect(try other.sendAtOnce("sign_in", data: Self.signIn, toJourney: otherID) == nil)
        departure.finish()
        // It is done all the same, before what comes next.
        #expect(try await other.send("next", toJourney: otherID).view.step == 3)
    }

    @Test(
        "a step that cannot be taken leaves journey and services as they were",
        arguments: [("lose", nil), ("count", ["n": "many"]), ("nonsense", nil)] as [(String, JSONDocument?)])
    func refused(_ event: String, _ data: JSONDocument?) async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard])
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "wizard").view.id
        let before = try await session.send("sign_in", data: Self.signIn, toJourney: id)
        await #expect(throws: JourneyRefusal.self) { try await session.send(event, data: data, toJourney: id) }
        #expect(try await session.journey(id).view == before.view)
        #expect(session.revision == before.revision)
        #expect(try fixture.get("counter", session) == (["count": 0], .unwritten))
    }

    @Test("a commit that the store refuses leaves journey and services as they were")
    func storeFailure() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store, flows: [Flows.wizard])
        let session = try await fixture.session()
        let before = try await session.startJourney(flow: "wizard")
        store.beforeCommit.withLock { $0 = { _ throws(StoreError) in throw .full("no space") } }
        await #expect(throws: SessionError.storageFull(reason: "no space")) {
            try await session.send("sign_in", data: Self.signIn, toJourney: before.view.id)
        }
        #expect(try await session.journey(before.view.id).view == before.view)
        #expect(try fixture.get("profile", session).etag == .unwritten)
        store.beforeCommit.withLock { $0 = nil }
        #expect(try await session.send("sign_in", data: Self.signIn, toJourney: before.view.id).view.step == 2)
    }

    @Test("a service that grew too large refuses the step as a whole")
    func tooLarge() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard]) { $0.maxDocumentSize = 300 }
        let session = try await fixture.session()
        let before = try await session.startJourney(flow: "wizard")
        let attributes = JSONDocument(String(repeating: "a", count: 300))
        await #expect(throws: SessionError.tooLarge(service: "profile", limit: 300)) {
            try await session.send("sign_in", data: ["name": "Ada", "more": attributes], toJourney: before.view.id)
        }
        #expect(try await session.journey(before.view.id).view == before.view)
    }

    @Test("results that are held count once they are many: then events are refused, and no result is")
    func heldResults() async throws {
        let flow = """
            {"id": "hold", "version": 1, "initial": "a", "states": {
              "a": {"on": {"go": {"target": "busy"}}},
              "busy": {"type": "task", "task": "work", "on": {"done.failed": {"target": "a"}, "done": {"target": "a", "actions": [
                {"op": "replace", "path": "/counter/count", "value": {"$from": "/output/text"}}]}}}}}
            """
        let fixture = try SessionsFixture(flows: [flow]) { $0.maxDocumentSize = 300 }
        let session = try await fixture.session()
        let output: JSONDocument = ["text": JSONDocument(String(repeating: "a", count: 3_000))]
        var begun: [String] = []
        for _ in 0..<3 {
            begun.append(try await session.startJourney(flow: "hold").view.id)
            try await session.send("go", toJourney: try #require(begun.last))
        }
        let tasks = try await fixture.sessions.claimTasks(named: "work", max: 9, lease: 60_000, wait: 0).map(\.task.id)
        for (number, task) in tasks.enumerated() {
            guard case .held = try await fixture.sessions.endTask(task, outcome: "ok", output: output) else {
                Issue.record("It was taken.")
                return
            }
            let isMore = (try? await session.startJourney(flow: "hold")) != nil
            #expect(isMore == (number < 2))
        }
        try await session.abandonJourney(try #require(begun.first))
        await #expect(throws: SessionError.self) { try await session.startJourney(flow: "hold") }
        // An operator ends two of them.
        for task in tasks.prefix(2) {
            try await fixture.sessions.failTask(task, attempt: nil, reason: "refunded", isFinal: true)
        }
        _ = try await session.startJourney(flow: "hold")
    }

    @Test("of 100 clients that send If-Match, every accepted event is in the journey once and in order")
    func parallel() async throws {
        let fixture = try SessionsFixture(flows: [Flows.loop])
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        let id = try await session.startJourney(flow: "loop").view.id
        let steps = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<100 { group.addTask { try await Self.sendAgain(10, to: id, of: session) } }
            return try await group.reduce(into: []) { $0 += $1 }.sorted()
        }
        #expect(steps == (0..<steps.count).map { UInt64($0) + 2 })
        #expect(steps.count < 1_000)
        #expect(try await session.journey(id).view.step == UInt64(steps.count) + 1)
        let moves = spy.changes.compactMap { change -> UInt64? in
            guard case .journeyMoved(_, let step) = change else { return nil }
            return step
        }
        #expect(moves == [1] + steps)
    }

    /// Looks where the journey stands and sends an event for just that, again and again.
    ///
    /// - Returns: the steps to which it was taken.
    private static func sendAgain(_ times: Int, to id: String, of session: Session) async throws -> [UInt64] {
        var steps: [UInt64] = []
        for _ in 0..<times {
            let step = try await session.journey(id).view.step
            await Task.yield()
            do {
                let shown = try await session.send("again", toJourney: id, condition: .atStep(step))
                #expect(shown.view.step == step + 1)
                steps.append(shown.view.step)
            } catch JourneyError.preconditionFailed(let current) {
                #expect(current != nil)
            }
        }
        return steps
    }

    @Test("without a condition, parallel events are all taken, those of another process on the same store too")
    func parallelUnconditional() async throws {
        let store = MemoryStore()
        let houses = try (0..<2).map { _ in
            try SessionsFixture(store: store, flows: [Flows.loop]) { $0.maxConflictRetries = 1_000 }
        }
        let (session, token) = try await houses[0].sessions.create()
        let sessions = [session, try await houses[1].sessions.authenticate(token.presented)]
        let id = try await session.startJourney(flow: "loop").view.id
        // The other one has loaded the session before: it learns of the journey by losing against it.
        try await sessions[1].updateLabels(["a": "b"])
        try await withThrowingTaskGroup(of: JourneyText.self) { group in
            for number in 0..<200 {
                let session = sessions[number % 2]
                group.addTask { try await session.send("again", toJourney: id) }
            }
            try await group.waitForAll()
        }
        let last = try await sessions[0].send("again", toJourney: id)
        #expect(max(last.view.step, try await sessions[1].journey(id).view.step) == 202)
    }
}
