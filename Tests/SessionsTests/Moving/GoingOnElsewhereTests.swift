import Glibc
import JSONDocument
import Navigation
import SeededRandomness
import Synchronization
import Testing

@testable import Sessions

@Suite("Going on elsewhere")
struct GoingOnElsewhereTests {
    private static let trip = #"""
        { "id": "trip", "version": 1, "initial": "a", "portable": true, "owns": ["counter"],
          "states": {
            "a": { "data": ["counter"],
              "on": { "set": {"actions": [{"op": "replace", "path": "/counter/count", "value": {"$from": "/event/n"}}]},
                      "next": {"target": "b"}, "begin": {"target": "busy"} } },
            "b": { "on": {"end": {"target": "z"}} },
            "busy": { "type": "task", "task": "work", "timeout": "1h", "on": {"done": {"target": "b"}} },
            "z": { "type": "final" } } }
        """#

    private static let day: Int64 = 86_400_000

    private func fixture(
        store: any SessionStore = MemoryStore(), clock: ManualClock = ManualClock(isStill: true), maxJourneys: Int = 16,
        mainFlow: String = "loop", _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try SessionsFixture(
            store: store, clock: clock, flows: [Self.trip, Flows.loop], mainFlow: mainFlow, maxJourneys: maxJourneys,
            configure)
    }

    /// A session with a journey whose counter has a number.
    private func started(_ number: Int, in fixture: SessionsFixture) async throws -> (session: Session, journey: String)
    {
        let session = try await fixture.session()
        let journey = try await session.startJourney(flow: "trip").view.id
        try await session.send("set", data: ["n": JSONDocument(number)], toJourney: journey)
        return (session, journey)
    }

    private func link(_ session: Session, _ journey: String) async throws -> PresentedLink {
        try #require(PresentedLink(try await session.makeLink(toJourney: journey, lifetime: Self.day).link.text))
    }

    private func follow(_ link: PresentedLink, into target: Session, _ fixture: SessionsFixture) async throws
        -> JourneyView
    {
        try await fixture.sessions.moveJourney(.link(link), of: link.session, into: target).text.view
    }

    @Test("a link takes a journey along, with its stack and what it owns; where it was, it has moved")
    func moving() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(7, in: fixture)
        let target = try await fixture.session()
        let spies = (try ChangeSpy(source), try ChangeSpy(target))
        let link = try await link(source, journey)
        let there = try await follow(link, into: target, fixture)
        #expect(there.id != journey && there.screen?.id == "a")
        #expect(there.screen?["counter"] == ["count": 7])
        await #expect(throws: JourneyError.moved(journey)) { try await source.journey(journey) }
        await #expect(throws: JourneyError.moved(journey)) { try await source.send("next", toJourney: journey) }
        #expect(try await target.send("next", toJourney: there.id).view.screen?.id == "b")
        #expect(spies.0.changes.contains(.journeyAbandoned(id: journey)))
        #expect(spies.1.changes.contains { if case .journeyMoved(there.id, _) = $0 { true } else { false } })
        // A copy of the request whose response was lost gets the same journey.
        #expect(try await follow(link, into: target, fixture).id == there.id)
        let third = try await fixture.session()
        await #expect(throws: JourneyError.linkUnusable) { try await follow(link, into: third, fixture) }
        #expect(try kept(source).transfers.departures.allSatisfy { $0.content == nil })
        #expect(try kept(target).transfers.arrivals.map(\.journey) == [there.id])
    }

    private func kept(_ session: Session) throws -> KeptJourneys {
        try JourneyWork(on: try session.pendingState(), session.environment).kept
    }

    @Test("a link opens nothing when it is another's, has expired, or its journey or session has ended")
    func refused() async throws {
        let fixture = try fixture()
        let target = try await fixture.session()
        func isRefused(_ link: PresentedLink) async -> Bool {
            do {
                _ = try await follow(link, into: target, fixture)
                return false
            } catch JourneyError.linkUnusable {
                return true
            } catch {
                return false
            }
        }
        let (source, journey) = try await started(1, in: fixture)
        let text = try await source.makeLink(toJourney: journey, lifetime: Self.day).link.text
        let last = text.last == "A" ? "B" : "A"
        #expect(await isRefused(try #require(PresentedLink(text.dropLast() + last))))
        #expect(PresentedLink("cg_" + text.dropFirst(4)) == nil && PresentedLink(text + "A") == nil)
        let late = try #require(
            PresentedLink(try await source.makeLink(toJourney: journey, lifetime: 60_000).link.text))
        fixture.clock.advance(60_000)
        #expect(await isRefused(late))
        try await source.abandonJourney(journey)
        #expect(await isRefused(try #require(PresentedLink(text))))
        let (other, another) = try await started(1, in: fixture)
        let gone = try await link(other, another)
        _ = try await fixture.sessions.end(other)
        #expect(await isRefused(gone))
    }

    @Test("a journey whose flow does not say so stays, and links are bounded")
    func bounds() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(1, in: fixture)
        _ = try await source.journey("main")
        await #expect(throws: JourneyError.notPortable("loop")) { try await link(source, "main") }
        for _ in 0..<JourneyTransfers.maximumLinks { _ = try await link(source, journey) }
        await #expect(throws: JourneyError.tooManyLinks(limit: 16)) { try await link(source, journey) }
        fixture.clock.advance(Self.day)
    }

    @Test("a target without room refuses, and the journey stays")
    func full() async throws {
        let fixture = try fixture(maxJourneys: 1)
        let (source, journey) = try await started(1, in: fixture)
        let (target, _) = try await started(2, in: fixture)
        await #expect(throws: JourneyError.tooMany(limit: 1)) {
            try await follow(try await link(source, journey), into: target, fixture)
        }
        #expect(try await source.journey(journey).view.screen?.id == "a")
    }

    @Test("in the session that has it a journey stays as it is, and a link is good afterwards")
    func ownSession() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(7, in: fixture)
        let link = try await link(source, journey)
        let before = try fixture.status("coordinator", source)?.etag
        #expect(try await follow(link, into: source, fixture).id == journey)
        #expect(try fixture.status("coordinator", source)?.etag == before)
        let target = try await fixture.session()
        let there = try await follow(link, into: target, fixture)
        #expect(there.screen?["counter"] == ["count": 7])
        await #expect(throws: JourneyError.linkUnusable) { try await follow(link, into: source, fixture) }
        _ = try await fixture.sessions.attachUser("ada", to: target)
        let claim = JourneyClaim.user("ada", journey: there.id)
        #expect(
            try await fixture.sessions.moveJourney(claim, of: target.id, into: target).text.view.id == there.id)
        await #expect(throws: JourneyError.notFound(there.id)) {
            let other = JourneyClaim.user("eve", journey: there.id)
            _ = try await fixture.sessions.moveJourney(other, of: target.id, into: target)
        }
    }

    @Test("a link whose move is refused after the journey has left is as good as before, and so are the others to it")
    func refusedMove() async throws {
        let store = StoreWrapper()
        let fixture = try fixture(store: store) { $0.maxSessionSize = 4_000 }
        let (source, journey) = try await started(7, in: fixture)
        let links = [try await link(source, journey), try await link(source, journey)]
        let full = try await fixture.session()
        try await fixture.perform(
            .mergePatch(["attributes": ["text": JSONDocument(String(repeating: "x", count: 3_800))]]), on: "profile",
            full)
        await #expect(throws: SessionError.sessionTooLarge(limit: 4_000)) {
            try await follow(links[0], into: full, fixture)
        }
        #expect(try await source.journey(journey).view.screen?["counter"] == ["count": 7])
        #expect(try await follow(links[0], into: try await fixture.session(), fixture).screen?.id == "a")
        await #expect(throws: JourneyError.linkUnusable) {
            try await follow(links[1], into: try await fixture.session(), fixture)
        }
    }

    @Test("a sign-in ends the links that were given out before it")
    func signIn() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(7, in: fixture)
        let link = try await link(source, journey)
        _ = try await fixture.sessions.attachUser("ada", to: source)
        #expect(!source.isGood(link.digest))
        await #expect(throws: JourneyError.linkUnusable) {
            try await follow(link, into: try await fixture.session(), fixture)
        }
        #expect(try await source.journey(journey).view.screen?.id == "a")
    }

    @Test("a journey `main` that was begun anew and left again: each link and each result goes where its journey is")
    func twice() async throws {
        let fixture = try fixture(mainFlow: "trip")
        let source = try await fixture.session()
        var moved: [(link: PresentedLink, target: Session, there: String, task: TaskID)] = []
        for _ in 0..<2 {
            _ = try await source.restartJourney("main")
            try await source.send("begin", toJourney: "main")
            let task = try #require(
                try await fixture.sessions.tasks(limit: 9).first { $0.id.session == source.id }?.id)
            let link = try await link(source, "main")
            let target = try await fixture.session()
            let there = try await follow(link, into: target, fixture).id
            moved.append((link, target, there, task))
        }
        await #expect(throws: JourneyError.moved("main")) { try await source.journey("main") }
        for move in moved {
            #expect(try await follow(move.link, into: move.target, fixture).id == move.there)
            try await fixture.sessions.endTask(move.task, outcome: "ok")
            #expect(try await move.target.journey(move.there).view.screen?.id == "b")
        }
        // Also while another `main` is there.
        _ = try await source.restartJourney("main")
        #expect(try await follow(moved[0].link, into: moved[0].target, fixture).id == moved[0].there)
        #expect(try await source.journey("main").view.screen?.id == "a")
    }

    @Test("a journey that returns beside one of its name has another, by which its link and its result are followed")
    func returningBeside() async throws {
        let store = StoreWrapper()
        let fixture = try fixture(store: store, mainFlow: "trip")
        let source = try await fixture.session()
        _ = try await source.journey("main")
        try await source.send("begin", toJourney: "main")
        let task = try #require(try await fixture.sessions.tasks(limit: 9).first?.id)
        let link = try await link(source, "main")
        let target = try await fixture.session()
        Crash(at: 2, isDone: false).happens(in: store)
        _ = try? await follow(link, into: target, fixture)
        store.letGo()
        _ = try await source.restartJourney("main")
        _ = try await fixture.sessions.end(target)
        await fixture.sessions.sweepTasks()
        let back = try #require(try await source.journeys().map(\.view).first { $0.id != "main" })
        try await fixture.sessions.endTask(task, outcome: "ok")
        #expect(try await source.journey(back.id).view.screen?.id == "b")
        #expect(try await source.journey("main").view.screen?.id == "a")
        let there = try await follow(link, into: try await fixture.session(), fixture)
        #expect(there.screen?.id == "b")
    }

    @Test("a journey on its way whose user signs out does not return to the next user")
    func signOut() async throws {
        let store = StoreWrapper()
        let fixture = try fixture(store: store)
        let source = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: source)
        let journey = try await source.startJourney(flow: "trip").view.id
        let link = try await link(source, journey)
        let target = try await fixture.session()
        Crash(at: 2, isDone: false).happens(in: store)
        _ = try? await follow(link, into: target, fixture)
        store.letGo()
        #expect(try kept(source).isMovingJourneys)
        try await fixture.sessions.detachUser(from: source)
        _ = try await fixture.sessions.end(target)
        await fixture.sessions.sweepTasks()
        #expect(try await source.journeys().isEmpty)
    }

    @Test("what is said of a task is followed over two moves: a lease, a failure, a result")
    func twoMoves() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(1, in: fixture)
        try await source.send("begin", toJourney: journey)
        let task = try #require(
            try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0).first?.task.id)
        let (first, second) = (try await fixture.session(), try await fixture.session())
        let between = try await follow(try await link(source, journey), into: first, fixture).id
        let there = try await follow(try await link(first, between), into: second, fixture).id
        let extended = try await fixture.sessions.extendTask(task, attempt: 1, lease: 90_000)
        #expect(extended.id.session == second.id && extended.due == fixture.clock.now() + 90_000)
        // The one attempt that the flow allows.
        await #expect(throws: TaskError.notClaimed) {
            try await fixture.sessions.failTask(task, attempt: 7, reason: "no")
        }
        try await fixture.sessions.endTask(task, outcome: "ok")
        #expect(try await second.journey(there).view.screen?.id == "b")
        await #expect(throws: TaskError.over) { try await fixture.sessions.endTask(task, outcome: "ok") }
        await #expect(throws: TaskError.over) {
            try await fixture.sessions.failTask(task, attempt: nil, reason: "late", isFinal: true)
        }
    }

    @Test("a journey leaves a session that lives on for its work, and the result comes to where it is")
    func expired() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(7, in: fixture)
        try await source.send("begin", toJourney: journey)
        let task = try #require(
            try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 3_600_000, wait: 0).first?.task.id)
        let link = try await link(source, journey)
        fixture.clock.advance(fixture.sessions.settings.idleTimeout)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        let target = try await fixture.session()
        let there = try await follow(link, into: target, fixture)
        #expect(there.screen?.id == "busy")
        try await fixture.sessions.endTask(task, outcome: "ok")
        let view = try await target.journey(there.id).view
        #expect(view.screen?.id == "b")
    }

    @Test("the result of a task that came from another session signs nobody in, and is kept")
    func movedSignIn() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(1, in: fixture)
        try await source.send("begin", toJourney: journey)
        let task = try #require(
            try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0).first?.task.id)
        let target = try await fixture.session()
        let there = try await follow(try await link(source, journey), into: target, fixture).id
        var report = TaskReport(outcome: "ok")
        report.signIn = ["user_id": "eve"]
        await #expect(throws: SessionError.self) { try await fixture.sessions.endTask(task, by: report) }
        #expect(target.identity.userID == nil && source.identity.userID == nil)
        fixture.clock.advance(60_000)
        await fixture.sessions.sweepTasks()
        let held = try #require(try await fixture.sessions.tasks(limit: 9).first)
        let details = try #require(try await fixture.sessions.details(of: held))
        #expect(held.isKept && details.notes?.result?.problem[string: "detail"]?.contains("/sign_in") == true)
        // A better one says nothing of a user.
        try await fixture.sessions.endTask(task, outcome: "ok")
        #expect(try await target.journey(there).view.screen?.id == "b")
    }

    @Test("the user takes over journeys of sessions with that user, and of no others")
    func users() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(1, in: fixture)
        let target = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: target)
        func take() async throws -> JourneyView {
            try await fixture.sessions.moveJourney(.user("ada", journey: journey), of: source.id, into: target).text
                .view
        }
        await #expect(throws: JourneyError.notFound(journey)) { try await take() }
        _ = try await fixture.sessions.attachUser("eve", to: source)
        await #expect(throws: JourneyError.notFound(journey)) { try await take() }
        _ = try await fixture.sessions.detachUser(from: source)
        _ = try await fixture.sessions.attachUser("ada", to: source)
        let listed = try await fixture.sessions.journeys(ofUser: "ada").filter(\.isPortable)
        #expect(listed.map(\.text.journey) == [journey] && listed.map(\.session) == [source.id])
        #expect(try await take().screen?.id == "a")
    }

    @Test("a user's list has the journeys of sessions that live on for their work, expired and displaced ones")
    func listOfUser() async throws {
        let fixture = try fixture(store: StoreWrapper()) { $0.maxSessionsOfUser = 1 }
        var listed: [SessionID] = []
        for way in ["expired", "displaced", "current"] {
            let session = try await fixture.session()
            _ = try await fixture.sessions.attachUser("ada", to: session)
            let journey = try await session.startJourney(flow: "trip").view.id
            try await session.send("begin", toJourney: journey)
            listed.append(session.id)
            if way == "expired" {
                fixture.clock.advance(fixture.sessions.settings.idleTimeout)
                await fixture.sessions.sweep()
                await fixture.sessions.sweepStore()
            }
        }
        #expect(try await fixture.sessions.sessions(ofUser: "ada").map(\.id) == [listed[2]])
        let found = try await fixture.sessions.journeys(ofUser: "ada")
        #expect(found.map(\.session) == listed.sorted() && found.allSatisfy(\.isPortable))
        // Each of them can be taken over.
        let target = try #require(try await fixture.sessions.session(listed[2]))
        for (source, text, _) in found where source != target.id {
            let claim = JourneyClaim.user("ada", journey: text.journey)
            _ = try await fixture.sessions.moveJourney(claim, of: source, into: target)
        }
        #expect(try await fixture.sessions.journeys(ofUser: "ada").map(\.session) == [target.id, target.id, target.id])
    }

    @Test("a user's list has nothing of a session in which somebody else has signed in since the store was asked")
    func listMeanwhile() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let flow = #"""
            { "id": "own", "version": 1, "initial": "a", "bound_to": "session",
              "states": {"a": {"on": {"end": {"target": "z"}}}, "z": {"type": "final"}} }
            """#
        func process() throws -> SessionsFixture {
            try SessionsFixture(store: store, clock: clock, flows: [flow], mainFlow: "own")
        }
        let (one, two) = (try process(), try process())
        let session = try await one.session()
        _ = try await one.sessions.attachUser("ada", to: session)
        _ = try await session.journey("main")
        // It is not in memory there, so it is read after the store was asked for the user's.
        store.beforeLoad.withLock { hook in
            hook = { _ throws(StoreError) in
                do { _ = try await one.sessions.attachUser("eve", to: session) } catch { Issue.record(error) }
            }
        }
        #expect(try await two.sessions.journeys(ofUser: "ada").isEmpty)
        store.letGo()
        #expect(try await two.sessions.journeys(ofUser: "eve").map(\.text.journey) == ["main"])
    }

    @Test("a journey moves out of a session that lives on: the others stay, and it can be left again")
    func livingSource() async throws {
        let fixture = try fixture(mainFlow: "trip")
        let (source, journey) = try await started(7, in: fixture)
        _ = try await source.journey("main")
        try await source.send("begin", toJourney: "main")
        let target = try await fixture.session()
        let there = try await follow(try await link(source, journey), into: target, fixture)
        #expect(try await source.journeys().map(\.journey) == ["main"])
        #expect(try await fixture.sessions.tasks(limit: 9).map(\.id.session) == [source.id])
        // And back, where it has been before.
        let back = try await follow(try await link(target, there.id), into: source, fixture)
        #expect(back.screen?["counter"] == ["count": 7])
        #expect(Set(try await source.journeys().map(\.journey)) == ["main", back.id])
        await #expect(throws: JourneyError.moved(journey)) { try await source.journey(journey) }
        await #expect(throws: JourneyError.moved(there.id)) { try await target.journey(there.id) }
    }

    @Test("a task goes along with its lease and attempts, and a result that names its former place is taken")
    func tasks() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(1, in: fixture)
        try await source.send("begin", toJourney: journey)
        let former = try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0)
        let target = try await fixture.session()
        let there = try await follow(try await link(source, journey), into: target, fixture)
        #expect(try await fixture.sessions.claimTasks(named: "work", max: 9, lease: 60_000, wait: 0).isEmpty)
        let tasks = try await fixture.sessions.tasks(limit: 9)
        #expect(tasks.map(\.id.session) == [target.id] && tasks.map(\.attempt) == [1])
        #expect(tasks.map(\.due) == former.map(\.task.due))
        try await fixture.sessions.endTask(try #require(former.first).task.id, outcome: "ok")
        #expect(try await target.journey(there.id).view.screen?.id == "b")
        await #expect(throws: TaskError.over) { try await fixture.sessions.endTask(tasks[0].id, outcome: "ok") }
    }

    @Test("a worker's lease and its failure find the task by its former id")
    func workers() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(1, in: fixture)
        try await source.send("begin", toJourney: journey)
        let claimed = try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0)
        let former = try #require(claimed.first).task.id
        let target = try await fixture.session()
        let there = try await follow(try await link(source, journey), into: target, fixture)
        let longer = try await fixture.sessions.extendTask(former, attempt: 1, lease: 90_000)
        #expect(longer.id.session == target.id && longer.due == fixture.clock.now() + 90_000)
        await #expect(throws: TaskError.notClaimed) {
            try await fixture.sessions.failTask(former, attempt: 2, reason: "late")
        }
        try await fixture.sessions.failTask(former, attempt: 1, reason: "no card", isFinal: true)
        #expect(try await target.journey(there.id).view.screen?.id == "b")
        await #expect(throws: TaskError.over) { try await fixture.sessions.extendTask(former, attempt: 1, lease: 1) }
        let other = TaskID(session: source.id, journey: "main", number: 1)
        await #expect(throws: TaskError.over) { try await fixture.sessions.extendTask(other, attempt: 1, lease: 1) }
    }

    @Test("a service of a journey that has moved cannot be written where it was")
    func services() async throws {
        let fixture = try fixture()
        let (source, journey) = try await started(1, in: fixture)
        _ = try await follow(try await link(source, journey), into: try await fixture.session(), fixture)
        let counter = try fixture.service("counter")
        await #expect(throws: SessionError.journeyMoved(journey)) {
            try await source.perform(.init(.put(["count": 3]), on: counter, journey: journey))
        }
        await #expect(throws: SessionError.noJourney("jrn_1")) {
            try await source.perform(.init(.put(["count": 3]), on: counter, journey: "jrn_1"))
        }
    }

    @Test("after a crash in between, a task goes on with its lease and attempts", arguments: [false, true])
    func crashedTask(isBack: Bool) async throws {
        // Otherwise the queue that waits for the end of the lease would bring it.
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let first = try fixture(store: store, clock: clock)
        let (source, journey) = try await started(7, in: first)
        try await source.send("begin", toJourney: journey)
        let former = try #require(
            try await first.sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0).first
        ).task
        let target = try await first.session()
        let link = try await link(source, journey)
        Crash(at: 2, isDone: false).happens(in: store)
        _ = try? await follow(link, into: target, first)
        #expect(try await store.tasks(TaskQuery(now: clock.now(), limit: 9)).isEmpty)
        store.letGo()
        let second = try fixture(store: store, clock: clock)
        if isBack { _ = try await second.sessions.endStored(target.id) }
        _ = try await second.sessions.session(source.id)
        await second.sessions.sweepTasks()
        let task = try #require(try await second.sessions.tasks(limit: 9).first)
        #expect(task.id.session == (isBack ? source.id : target.id))
        #expect((task.attempts, task.attempt, task.due) == (former.attempts, 1, former.due) && task.isClaimed)
        #expect(task.createdAt == former.createdAt)
        try await second.sessions.endTask(former.id, outcome: "ok")
        #expect(try await second.sessions.tasks(limit: 9).isEmpty)
    }

    /// Fails one commit, before or after it is done, and every one behind it: the process is gone.
    private final class Crash: Sendable {
        private let left: Atomic<Int>
        private let isDone: Bool

        init(at commit: Int, isDone: Bool) {
            left = Atomic(commit)
            self.isDone = isDone
        }

        func happens(in store: StoreWrapper) {
            store.beforeCommit.withLock { hook in
                hook = { [self, inner = store.inner] commit throws(StoreError) in try await pass(commit, inner) }
            }
        }

        private func pass(_ commit: SessionCommit, _ store: MemoryStore) async throws(StoreError) {
            let number = left.wrappingSubtract(1, ordering: .relaxed).oldValue
            if number > 1 { return }
            if number == 1, isDone { try await store.commit(commit) }
            throw .unavailable("gone")
        }
    }

    /// Moves a journey in a process that dies at a commit, and looks for it from another process.
    private func places(
        ofJourneyMovedIn store: StoreWrapper, _ clock: ManualClock, crashAt commit: Int, isDone: Bool, repeats: Bool
    ) async throws -> Int {
        let first = try fixture(store: store, clock: clock)
        let (source, journey) = try await started(7, in: first)
        let target = try await first.session()
        let link = try await link(source, journey)
        Crash(at: commit, isDone: isDone).happens(in: store)
        _ = try? await follow(link, into: target, first)
        store.letGo()
        let second = try fixture(store: store, clock: clock)
        var found = 0
        let sessions = try await [source.id, target.id].asyncMap { try await second.sessions.session($0) }
        if repeats, let target = sessions[1] { _ = try await follow(link, into: target, second) }
        await second.sessions.sweepTasks()
        for case let session? in sessions {
            found += try await session.journeys().filter { $0.view.screen?["counter"] == ["count": 7] }.count
            #expect(try kept(session).transfers.departures.allSatisfy { $0.content == nil })
        }
        return found
    }

    @Test(
        "a process that dies between the commits, or does not learn that one was done, leaves it at one place",
        arguments: [1, 2, 3, 4, 5], [false, true])
    func crashes(commit: Int, isDone: Bool) async throws {
        for repeats in [false, true] {
            let store = StoreWrapper()
            let found = try await places(
                ofJourneyMovedIn: store, ManualClock(), crashAt: commit, isDone: isDone, repeats: repeats)
            #expect(found == 1)
        }
    }

    @Test("when the other session has ended before it came, it returns")
    func returning() async throws {
        let store = StoreWrapper()
        let clock = ManualClock()
        let first = try fixture(store: store, clock: clock)
        let (source, journey) = try await started(7, in: first)
        let target = try await first.session()
        let link = try await link(source, journey)
        Crash(at: 2, isDone: false).happens(in: store)
        _ = try? await follow(link, into: target, first)
        store.letGo()
        let second = try fixture(store: store, clock: clock)
        _ = try await second.sessions.endStored(target.id)
        let back = try #require(try await second.sessions.session(source.id))
        await second.sessions.sweepTasks()
        #expect(try await back.journey(journey).view.screen?["counter"] == ["count": 7])
        #expect(try await follow(link, into: try await second.session(), second).screen?.id == "a")
    }

    @Test("a journey that cannot be brought, because its target cannot be read, keeps no other waiting")
    func others() async throws {
        let store = StoreWrapper()
        let clock = ManualClock()
        let first = try fixture(store: store, clock: clock)
        let (source, one) = try await started(1, in: first)
        let two = try await source.startJourney(flow: "trip").view.id
        let targets = [try await first.session(), try await first.session()]
        for (journey, target) in zip([one, two], targets) {
            let link = try await link(source, journey)
            Crash(at: 2, isDone: false).happens(in: store)
            _ = try? await follow(link, into: target, first)
            store.letGo()
        }
        #expect(try source.departuresUnderWay().map(\.journey) == [one, two])
        let second = try fixture(store: store, clock: clock)
        let damaged = targets[0].id
        store.beforeLoad.withLock { hook in
            hook = { id throws(StoreError) in if id == damaged { throw .damaged("a page") } }
        }
        let after = try #require(try await second.sessions.session(source.id))
        await second.sessions.sweepTasks()
        #expect(try after.departuresUnderWay().map(\.journey) == [one])
        store.letGo()
        await second.sessions.sweepTasks()
        #expect(try after.departuresUnderWay().isEmpty)
        for target in targets {
            let target = try #require(try await second.sessions.session(target.id))
            #expect(try await target.journeys().filter { $0.view.flow == "trip" }.count == 1)
        }
    }

    /// `MOVES=1000` makes as many moves as that.
    @Test("many moves between sessions, with crashes: each journey is at one place after each", arguments: [1, 2, 3])
    func histories(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let store = StoreWrapper()
        let clock = ManualClock()
        var fixture = try fixture(store: store, clock: clock)
        var ids: [SessionID] = []
        let journeys = 4
        for number in 0..<journeys { ids.append(try await started(number, in: fixture).session.id) }
        for move in 1...Self.moves {
            let (from, to) = (
                ids.randomElement(using: &generator) ?? ids[0], ids.randomElement(using: &generator) ?? ids[0]
            )
            guard from != to, let source = try await fixture.sessions.session(from),
                let target = try await fixture.sessions.session(to),
                let journey = try await source.journeys().first(where: { $0.view.flow == "trip" })?.journey
            else { continue }
            let link = try await link(source, journey)
            Crash(at: Int.random(in: 1...8, using: &generator), isDone: Bool.random(using: &generator))
                .happens(in: store)
            _ = try? await follow(link, into: target, fixture)
            store.letGo()
            fixture = try self.fixture(store: store, clock: clock)
            var found: [Int] = []
            for id in ids { _ = try await fixture.sessions.session(id) }
            await fixture.sessions.sweepTasks()
            for id in ids {
                let session = try #require(try await fixture.sessions.session(id))
                for shown in try await session.journeys() {
                    if let number = shown.view.screen?["counter"]?[member: "count"]?.int { found.append(number) }
                }
            }
            guard found.sorted() == Array(0..<journeys) else {
                Issue.record("seed \(seed), move \(move): \(found)")
                return
            }
        }
    }

    private static let moves = getenv("MOVES").flatMap { Int(String(cString: $0)) } ?? 60
}

extension Array {
    fileprivate func asyncMap<Value>(_ make: (Element) async throws -> Value) async throws -> [Value] {
        var made: [Value] = []
        for element in self { made.append(try await make(element)) }
        return made
    }
}
