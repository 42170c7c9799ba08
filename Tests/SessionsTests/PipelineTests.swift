import JSONDocument
import Synchronization
import Testing

@testable import Sessions

/// Units of work of one session that begin before the ones before them are durable.
@Suite struct PipelineTests {
    private typealias Told = Outcomes<ServiceOperation.Outcome>

    private let store = HeldStore()
    private let fixture: SessionsFixture
    private let session: Session
    private let spy: ChangeSpy

    init() async throws {
        fixture = try SessionsFixture(store: store)
        session = try await fixture.session()
        spy = try ChangeSpy(session)
    }

    private func put(_ number: Int) -> ServiceOperation.Action { .put(["count": .init(number)]) }

    private var count: JSONDocument? { get throws { try fixture.get("counter", session).document[member: "count"] } }

    @Test("all commits of a session are on their way before the first is done; they are shown and told in their order")
    func group() throws {
        let told = Told()
        for number in 1...64 { told.begin(number, put(number), on: "counter", in: session) }
        #expect(store.heldCount == 64)
        #expect(try count == 0 && told.numbers.isEmpty && session.revision == 1)
        store.release(1)
        #expect(try count == 1 && told.revisions == [2] && session.revision == 2)
        store.release()
        #expect(told.numbers == Array(1...64) && told.revisions == Array(2...65))
        #expect(try count == 64)
        #expect(
            spy.changes == (2...65).map { .serviceChanged(name: "counter", etag: .init(revision: $0)) })
        #expect(!session.isBusy)
    }

    @Test("one commit of a session that processes share is on its way, and the next is made from what it has left")
    func shared() async throws {
        let store = HeldStore(isShared: true)
        let session = try await SessionsFixture(store: store).session()
        let told = Told()
        for number in 1...3 { told.begin(number, put(number), on: "counter", in: session) }
        for number in 1...3 {
            await store.wait(for: 1)
            #expect(store.heldCount == 1 && told.numbers == Array(1..<number))
            store.release()
        }
        #expect(told.numbers == [1, 2, 3] && told.revisions == [2, 3, 4])
    }

    @Test("a store may call back in whatever order: what is told is in the order of revisions")
    func backwards() throws {
        let told = Told()
        for number in 1...5 { told.begin(number, put(number), on: "counter", in: session) }
        store.release(backwards: true)
        #expect(told.revisions == Array(2...6) && session.revision == 6)
        #expect(spy.changes.count == 5)
    }

    @Test("a refusal, and what changes nothing, waits until all that it has seen is durable")
    func refusals() throws {
        let told = Told()
        told.begin(1, put(1), on: "counter", in: session)
        told.begin(2, put(2), on: "counter", if: .ifMatch(.unwritten), in: session)
        told.begin(3, .remove, on: "profile", in: session)
        told.begin(4, put(4), on: "counter", in: session)
        told.begin(5, .put(["count": "x"]), on: "counter", in: session)
        #expect(told.numbers.isEmpty)
        store.release(1)
        #expect(told.numbers == [1, 2, 3])
        #expect(told.errors == [.preconditionFailed(service: "counter", current: .init(revision: 2))])
        store.release()
        #expect(told.numbers == [1, 2, 3, 4, 5] && told.errors.count == 2)
        // Nothing is under way: at once.
        told.begin(6, put(2), on: "counter", if: .ifMatch(.unwritten), in: session)
        told.begin(7, .remove, on: "profile", in: session)
        #expect(told.numbers.suffix(2) == [6, 7])
    }

    @Test(
        "when a commit fails all behind it fail with its error, and the next begins from what is durable",
        arguments: [.unavailable("Mishap."), .full("Mishap.")] as [StoreError])
    func failure(_ refusal: StoreError) throws {
        let told = Told()
        told.begin(1, put(1), on: "counter", in: session)
        told.begin(2, put(2), on: "counter", in: session)
        told.begin(3, put(3), on: "counter", in: session)
        told.begin(4, put(4), on: "counter", if: .ifMatch(.unwritten), in: session)
        store.release(1)
        store.release(1, with: refusal)
        #expect(told.numbers == [1, 2])
        // It waits for what is still to fail.
        told.begin(5, .mergePatch(["name": "Ada"]), on: "profile", in: session)
        #expect(store.heldCount == 1)
        store.open()
        #expect(told.numbers.prefix(4) == [1, 2, 3, 4])
        #expect(told.errors == Array(repeating: SessionError(refusal), count: 3))
        #expect(try count == 1)
    }

    @Test("what waited for a failure to be through is done then, from what is durable")
    func afterFailure() async throws {
        let told = Told()
        for number in 1...3 { told.begin(number, put(number), on: "counter", in: session) }
        store.release(2, with: .unavailable("x"))
        let next = Task { try await fixture.perform(put(4), on: "counter", session).etag.revision }
        while session.waitingCount == 0 { await Task.yield() }
        store.open()
        #expect(try await next.value == 2)
        #expect(try count == 4 && told.errors.count == 3)
        #expect(spy.changes.count == 1)
    }

    @Test("a session that the store does not have any more has ended, for all that is under way")
    func gone() throws {
        let told = Told()
        for number in 1...2 { told.begin(number, put(number), on: "counter", in: session) }
        store.release(with: .gone)
        #expect(told.errors == [.ended, .ended])
        #expect(throws: SessionError.ended) { try session.summary() }
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
    }

    @Test("what a store has done although it said that it failed is found by the next")
    func doneAllTheSame() async throws {
        let told = Told()
        for number in 1...2 { told.begin(number, put(number), on: "counter", in: session) }
        store.release(1, with: .unavailable("x"), isDone: true)
        store.release()
        #expect(told.errors.count == 2 && session.revision == 1)
        store.open()
        #expect(try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session).etag.revision == 4)
        #expect(try count == 2)
    }

    @Test("when another process was faster, each runs again on what that one has done, in order")
    func conflict() async throws {
        let other = try SessionsFixture(store: store)
        let same = try #require(try await other.sessions.session(session.id))
        let told = Told()
        told.begin(0, put(10), on: "counter", in: same)
        for number in 1...3 {
            told.begin(number, .mergePatch(["name": .init("\(number)")]), on: "profile", in: session)
        }
        told.begin(4, put(4), on: "counter", if: .ifMatch(.unwritten), in: session)
        store.release()
        await store.wait(for: 3)
        // The unit behind them, which is refused, has run as well.
        while session.state.withLock(\.isWriting) { await Task.yield() }
        // Those behind are behind.
        told.begin(5, put(5), on: "counter", in: session)
        #expect(told.numbers == [0] && store.heldCount == 4)
        store.release()
        #expect(told.numbers == [0, 1, 2, 3, 4, 5] && told.revisions == [2, 3, 4, 5, 6])
        #expect(told.errors == [.preconditionFailed(service: "counter", current: .init(revision: 2))])
        #expect(try count == 5)
        // Also of what the other process has done.
        #expect(spy.changes.count == 5)
    }

    @Test("an end waits for what is under way, and what comes behind it finds the session ended")
    func end() async throws {
        let told = Told()
        for number in 1...2 { told.begin(number, put(number), on: "counter", in: session) }
        let end = Task { try await fixture.sessions.end(session) }
        while session.waitingCount == 0 { await Task.yield() }
        told.begin(3, put(3), on: "counter", in: session)
        #expect(try await store.load(session.id) != nil && told.numbers.isEmpty && store.heldCount == 2)
        store.release(1)
        #expect(told.revisions == [2] && session.waitingCount == 2)
        store.release(1)
        #expect(try await end.value)
        #expect(told.numbers == [1, 2, 3] && told.revisions == [2, 3] && told.errors == [.ended])
        #expect(spy.changes.last == .ended(.requested))
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
    }

    @Test("who keeps the others out waits for what is under way; any number goes on behind, in order")
    func exclusive() async throws {
        let told = Told()
        told.begin(0, put(0), on: "counter", in: session)
        let turn = Task { try await session.takeTurn() }
        while session.waitingCount == 0 { await Task.yield() }
        for number in 1...100 { told.begin(number, put(number), on: "counter", in: session) }
        #expect(store.heldCount == 1)
        store.open()
        try await turn.value
        #expect(told.numbers == [0] && session.revision == 2)
        session.endTurn()
        // It goes on elsewhere when it takes long.
        #expect(try await fixture.perform(put(101), on: "counter", session).etag.revision == 103)
        #expect(told.numbers == Array(0...100) && told.revisions == Array(2...102))
    }

    @Test("an instance that a reader has asked for meanwhile lives for the next unit of work as well")
    func readers() throws {
        let told = Told()
        told.begin(1, put(1), on: "counter", in: session)
        _ = try fixture.get("profile", session)
        _ = try fixture.get("counter", session)
        told.begin(2, .clear, on: "profile", in: session)
        told.begin(3, .remove, on: "counter", in: session)
        store.release()
        #expect(told.revisions == [2, 3, 0] && session.revision == 4)
        #expect(try fixture.status("profile", session)?.etag == .init(revision: 3))
        #expect(try fixture.status("counter", session)?.isLive == false)
        #expect(fixture.sessions.statistics.services.map(\.live).reduce(0, +) == 1)
    }

    @Test("a session with commits under way stays in memory")
    func residence() async throws {
        let store = HeldStore()
        let fixture = try SessionsFixture(store: store) { $0.maxResidentBytes = Session.footprint }
        let told = Told()
        let id = try await fixture.session().id
        told.begin(
            1, put(1), on: "counter", in: try #require(try await fixture.sessions.session(id)))
        for _ in 0..<10 { _ = try await fixture.session() }
        let resident = try #require(fixture.sessions.registry[id])
        #expect(resident.underWayCount == 1)
        #expect(resident.isBusy)
        store.open()
        #expect(told.revisions == [2] && resident.revision == 2)
        #expect(fixture.sessions.statistics.services.first { $0.name == "counter" }?.live == 1)
        #expect(!resident.isBusy)
    }

    @Test("events that are under way together take one step each")
    func journeys() async throws {
        store.open()
        let store = HeldStore()
        let fixture = try SessionsFixture(store: store, flows: [Flows.loop])
        let session = try await fixture.session()
        let starting = Task { try await session.startJourney(flow: "loop").view.id }
        await store.wait(for: 1)
        store.release()
        let id = try await starting.value
        let told = Outcomes<JourneyForm>()
        for number in 1...5 {
            let condition = number == 4 ? WriteCondition.atStep(2) : .none
            session.send("again", toJourney: id, condition: condition, then: told.note(number))
        }
        #expect(store.heldCount == 4 && told.numbers.isEmpty)
        #expect(try session.residentJourney(id)?.view.step == 1)
        store.release()
        #expect(told.numbers == [1, 2, 3, 4, 5])
        #expect(told.values.map { $0.text.view.step } == [2, 3, 4, 5])
        #expect(Set(told.values.map(\.text.etag)).count == 4)
        #expect(try session.residentJourney(id)?.view.step == 5)
        #expect(session.shownJourney(id)?.etag == told.values.last?.text.etag)
        #expect(try await fixture.runningJourneys() == 1)
    }

    @Test("what ended is not remembered, also when it was about to be")
    func remembered() throws {
        session.markEnded()
        session.noteMemory(session.id)
        #expect(session.environment.remembered.count == 0)
    }

    @Test(
        "whatever is under way, the outcomes and the state are those of one after the other",
        arguments: (1...40).map { _ in UInt64.random(in: 0...UInt64.max) })
    func sequential(seed: UInt64) async throws {
        let random = SeededRandom(seed: seed)
        let patient = try SessionsFixture()
        let other = try await patient.session()
        let patientSpy = try ChangeSpy(other)
        let (told, expected) = (Outcomes<[UInt64]>(), Outcomes<[UInt64]>())
        for number in 0..<120 {
            let body = Self.unit(random, fixture)
            told.begin(number, in: session, body)
            expected.begin(number, in: other, body)
            switch random.below(6) {
            case 0: store.release(random.below(4))
            case 1:
                // A reader is between two units of work only where nothing is under way.
                store.release()
                let name = ["counter", "cart", "mail", "profile"][random.below(4)]
                _ = try fixture.get(name, session)
                _ = try patient.get(name, other)
            default: break
            }
        }
        store.release()
        #expect(told.numbers == Array(0..<120), "seed \(seed)")
        #expect(told.texts == expected.texts, "seed \(seed)")
        #expect(try session.services() == other.services(), "seed \(seed)")
        #expect(spy.changes == patientSpy.changes, "seed \(seed)")
        #expect(fixture.sessions.statistics == patient.sessions.statistics, "seed \(seed)")
        #expect(!session.isBusy, "seed \(seed)")
        let (one, same) = (session.stored.record, other.stored.record)
        #expect(one.revision == same.revision && one.services.map(\.bytes) == same.services.map(\.bytes))
        #expect(try await store.load(session.id)?.record === one)
    }

    /// Some changes of some services; it may throw in the end.
    private static func unit(
        _ random: SeededRandom, _ fixture: SessionsFixture
    ) -> @Sendable (inout PendingState) throws -> [UInt64] {
        let steps = (0...random.below(3)).map { _ in (random.below(6), random.below(4), random.below(1_000)) }
        let fails = random.below(5) == 0
        let catalog = fixture.sessions.catalog
        return { pending in
            for (step, name, number) in steps {
                let service = try catalog.service(named: ["counter", "cart", "mail", "profile"][name])
                switch step {
                case 0: pending.create(service)
                case 1: pending.clear(service)
                case 2: pending.remove(service)
                case 3 where number < 100: pending.removeAll()
                default: pending.write(service, Array(#"{"count":\#(number)}"#.utf8))
                }
            }
            if fails { throw SessionError.preconditionRequired(service: "\(pending.revision)") }
            return catalog.services.flatMap { service in
                [pending.etag(of: service).revision, pending.isLive(service) ? 1 : 0]
            }
        }
    }
}
