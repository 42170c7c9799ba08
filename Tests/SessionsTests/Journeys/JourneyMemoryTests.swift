import JSONDocument
import Testing

@testable import Navigation
@testable import Sessions

@Suite("What is remembered of journeys")
struct JourneyMemoryTests {
    private static let main = "main"

    private func memory(of session: Session) -> JourneyMemory? { session.state.withLock { $0.memory } }

    private func text(of session: Session, in fixture: SessionsFixture) throws -> [UInt8]? {
        let coordinator = try fixture.service("coordinator")
        return session.state.withLock { $0.record.document(of: coordinator.index)?.bytes }
    }

    /// A session whose journey `main` shows a page with the profile.
    private func signedIn(_ fixture: SessionsFixture) async throws -> Session {
        let session = try await fixture.session()
        try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        return session
    }

    @Test("after an event the next one finds the journey, the documents and what guards said of them")
    func found() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await signedIn(fixture)
        _ = try #require(try session.sendAtOnce("next", toJourney: "main"))
        let memory = try #require(self.memory(of: session))
        let text = try #require(try self.text(of: session, in: fixture))
        #expect(memory.journeys(keptAs: text)?.journeys.map(\.top?.state) == ["page2"])
        #expect(memory.documents.map(\.service.name) == ["profile"])
        #expect(memory.documents.first?.document[member: "name"] == "Ada")
        // The next finds these very documents.
        let document = try #require(memory.documents.first?.document)
        _ = try #require(try session.sendAtOnce("back", toJourney: "main"))
        let next = try #require(self.memory(of: session))
        #expect(next.documents.first?.document.isIdentical(to: document) == true)
        #expect(next.journeys(keptAs: text) == nil)
    }

    @Test("only the very array counts: equal bytes may be of another time")
    func identity() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await signedIn(fixture)
        let memory = try #require(self.memory(of: session))
        let text = try #require(try self.text(of: session, in: fixture))
        #expect(memory.journeys(keptAs: text) != nil)
        #expect(memory.journeys(keptAs: text.map { $0 }) == nil)
    }

    @Test("a service that is written is seen by the next event, and what was shown holds no more")
    func written() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await signedIn(fixture)
        #expect(session.shownJourney(Self.main) != nil)
        try await fixture.perform(.mergePatch(["name": ""]), on: "profile", session)
        #expect(session.shownJourney(Self.main) == nil)
        // The pages require a name, and the journey goes back to where none is needed.
        #expect(throws: JourneyRefusal.self) { try session.sendAtOnce("next", toJourney: "main") }
        #expect(try session.residentJourney("main")?.view.screen?.id == "start")
        try await fixture.perform(.mergePatch(["name": "Grace"]), on: "profile", session)
        #expect(try session.residentJourney("main")?.view.screen?["profile"]?[member: "name"] == "Grace")
        let shown = try await session.send("sign_in", data: ["name": "Grace"], toJourney: "main")
        #expect(session.shownJourney(Self.main)?.bytes == shown.bytes)
        try await fixture.perform(.remove, on: "profile", session)
        let back = try await session.journey("main")
        #expect(back.view.screen?.id == "start" && back.view.screen?["profile"]?[member: "name"] == "")
    }

    @Test("of two processes on one store each sees what the other has done")
    func twoProcesses() async throws {
        let store = MemoryStore()
        let fixture = try SessionsFixture(store: store, flows: [Flows.loop], mainFlow: "loop")
        let (session, token) = try await fixture.sessions.create()
        _ = try await session.journey("main")
        let other = try SessionsFixture(store: store, clock: fixture.clock, flows: [Flows.loop], mainFlow: "loop")
        let same = try await other.sessions.authenticate(token.presented)
        for step in 0..<6 {
            // Whose turn it is loses the first attempt, against what it remembers.
            let moved = try await (step.isMultiple(of: 2) ? same : session).send("again", toJourney: "main")
            #expect(moved.view.step == UInt64(step) + 2)
        }
    }

    @Test("documents that are large are read each time, and nothing else changes")
    func largeDocuments() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await signedIn(fixture)
        let long = JSONDocument(String(repeating: "x", count: JourneyMemory.maximumBytes))
        try await fixture.perform(.mergePatch(["attributes": ["note": long]]), on: "profile", session)
        let shown = try await session.journey("main")
        #expect(shown.view.screen?["profile"]?[member: "attributes"]?[member: "note"] == long)
        let memory = try #require(self.memory(of: session))
        #expect(memory.documents.isEmpty && memory.guards.answers.isEmpty)
        #expect(memory.views.isEmpty)
        #expect(try await session.send("next", toJourney: "main").view.screen?.id == "page2")
        #expect(try await session.send("back", toJourney: "main").view.screen?.id == "page1")
    }

    @Test("several journeys of a session are shown without being looked at again")
    func severalJourneys() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard, Flows.loop], mainFlow: "wizard")
        let session = try await signedIn(fixture)
        let other = try await session.startJourney(flow: "loop")
        let main = try #require(try session.residentJourney("main"))
        #expect(session.shownJourney(Self.main)?.bytes == main.bytes)
        #expect(session.shownJourney(other.view.id)?.bytes == other.bytes)
        #expect(session.shownJourney("mai") == nil)
    }

    @Test("when there are too many, the first that came is forgotten, and comes back as the last")
    func bounded() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        var sessions: [Session] = []
        for _ in 0..<5 { sessions.append(try await signedIn(fixture)) }
        func remembered() -> [Int] { sessions.indices.filter { memory(of: sessions[$0]) != nil } }
        let few = RememberedSessions(shardCount: 1, placesPerShard: 3)
        for session in sessions { few.add(session, session.id) }
        #expect(remembered() == [2, 3, 4] && few.count == 3)
        _ = try #require(try sessions[0].sendAtOnce("next", toJourney: "main"))
        few.add(sessions[0], sessions[0].id)
        #expect(remembered() == [0, 3, 4])
        few.remove(sessions[4], sessions[4].id)
        _ = try #require(try sessions[1].sendAtOnce("next", toJourney: "main"))
        few.add(sessions[1], sessions[1].id)
        #expect(remembered() == [0, 1, 3, 4] && few.count == 3)
        _ = try #require(try sessions[2].sendAtOnce("next", toJourney: "main"))
        few.add(sessions[2], sessions[2].id)
        #expect(remembered() == [0, 1, 2, 4])
    }

    @Test("a session that ends is let go of")
    func ended() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await signedIn(fixture)
        let remembered = session.environment.remembered
        #expect(remembered.count == 1)
        #expect(session.markEnded())
        #expect(self.memory(of: session) == nil && remembered.count == 0)
    }

    @Test("a session keeps no more room for its journeys than they take")
    func exactRoom() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await signedIn(fixture)
        _ = try #require(try session.sendAtOnce("next", toJourney: "main"))
        let text = try #require(try self.text(of: session, in: fixture))
        #expect(text.capacity - text.count < 64)
    }
}
