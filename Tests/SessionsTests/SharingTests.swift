import JSONDocument
import Testing

@testable import Sessions

/// Several processes on one store: what one has answered, every other knows.
@Suite("Sessions that processes share")
struct SharingTests {
    private let hub = SharedStore()
    private let clock = ManualClock(isStill: true)

    private func process(flows: [String] = [], mainFlow: String? = nil) throws -> SessionsFixture {
        try SessionsFixture(store: hub.door(), clock: clock, flows: flows, mainFlow: mainFlow) {
            $0.idleTimeout = 60_000
            $0.touchInterval = 3_000
        }
    }

    private func door(of process: SessionsFixture) throws -> SharedStore.Door {
        try #require(process.store as? SharedStore.Door)
    }

    @Test("a write of one is read by the other, whose own condition on the former state fails")
    func writes() async throws {
        let (one, two) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        let there = try await two.sessions.authenticate(token.presented)
        let first = try await two.perform(.put(["count": 1]), on: "counter", there)
        #expect(try one.get("counter", try await one.sessions.authenticate(token.presented)).document == ["count": 1])
        let second = try await one.perform(.put(["count": 2]), on: "counter", session, if: .ifMatch(first.etag))
        let again = try await two.sessions.authenticate(token.presented)
        #expect(again === there)
        #expect(try two.get("counter", again).etag == second.etag)
        await #expect(throws: SessionError.self) {
            try await two.perform(.put(["count": 3]), on: "counter", again, if: .ifMatch(first.etag))
        }
        #expect(try two.get("counter", again).document == ["count": 2])
    }

    @Test("a revision that a store has given again, after it has lost the first one, is not taken for that")
    func lost() async throws {
        let (one, two) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        try await one.perform(.put(["count": 1]), on: "counter", session)
        let former = try #require(try await door(of: one).load(session.id))
        let first = try await one.perform(.put(["count": 2]), on: "counter", session)
        let there = try await two.sessions.authenticate(token.presented)
        #expect(try two.get("counter", there).document == ["count": 2])
        try await hub.lose(since: former)
        for process in [one, two] { try door(of: process).era.add(1, ordering: .relaxed) }
        let here = try await one.sessions.authenticate(token.presented)
        #expect(try one.get("counter", here).document == ["count": 1])
        #expect(try await one.perform(.put(["count": 3]), on: "counter", here).etag == first.etag)
        let again = try await two.sessions.authenticate(token.presented)
        #expect(again === there)
        #expect(try two.get("counter", again).document == ["count": 3])
        // It is read as a whole once.
        let loads = try door(of: two).loads.load(ordering: .relaxed)
        _ = try await two.sessions.authenticate(token.presented)
        #expect(try door(of: two).loads.load(ordering: .relaxed) == loads)
    }

    @Test("a version of a flow is noted again a minute later: another process that begins may have taken it back")
    func versions() async throws {
        let process = try SessionsFixture(store: hub.door(), clock: ManualClock(), flows: [Flows.wizard])
        func isNoted() -> Bool { process.sessions.environment.knownFlows.withLock { $0.versions["wizard"] == [1] } }
        let session = try await process.session()
        _ = try await session.startJourney(flow: "wizard")
        #expect(isNoted())
        let loop = Task { await process.sessions.run() }
        let end = ContinuousClock.now + .seconds(60)
        while isNoted(), .now < end { await Task.yield() }
        loop.cancel()
        await loop.value
        #expect(!isNoted())
        let other = try await process.session()
        _ = try await other.startJourney(flow: "wizard")
        #expect(isNoted())
    }

    @Test("what the store knows of flows is forgotten with a reload, and a unit of work from before it says nothing")
    func reloadedVersions() async throws {
        let process = try process(flows: [Flows.wizard])
        let environment = process.sessions.environment
        let former = environment.definitions
        _ = try await process.session().startJourney(flow: "wizard")
        func isNoted() -> Bool {
            environment.knownFlows.withLock { $0.contains("wizard", 1, of: environment.definitions) }
        }
        #expect(isNoted())
        environment.replaceDefinitions(former.catalog, former.journeys)
        #expect(!isNoted())
        environment.knowFlows([UsedFlow(flow: "other", version: 1, states: "")], of: environment.definitions)
        environment.knowFlows([UsedFlow(flow: "wizard", version: 1, states: "former ")], of: former)
        #expect(!isNoted())
        _ = try await process.session().startJourney(flow: "wizard")
        #expect(isNoted())
    }

    @Test("a session that nobody else has changed is asked for its standing alone")
    func standing() async throws {
        let one = try process()
        let (_, token) = try await one.sessions.create()
        for _ in 0..<10 { _ = try await one.sessions.authenticate(token.presented) }
        let door = try door(of: one)
        #expect(door.looks.load(ordering: .relaxed) == 10 && door.loads.load(ordering: .relaxed) == 0)
    }

    @Test("units of work of several processes on one session all count, each once")
    func parallelWrites() async throws {
        let processes = try (0..<3).map { _ in try process() }
        let id = try await processes[0].session().id
        let count = await withTaskGroup(of: Int.self) { group in
            for number in 0..<120 {
                let sessions = processes[number % 3].sessions
                group.addTask {
                    do {
                        let session = try #require(try await sessions.session(id))
                        try await session.update { locator in
                            let counter = try locator.resolve(DocumentService.key("counter"))
                            counter.document = ["count": .init((counter.document[member: "count"]?.int ?? 0) + 1)]
                        }
                        return 1
                    } catch SessionError.contention {
                        // It lost too often, and has changed nothing.
                        return 0
                    } catch {
                        Issue.record(error)
                        return 0
                    }
                }
            }
            return await group.reduce(0, +)
        }
        for process in processes {
            let session = try #require(try await process.sessions.session(id))
            #expect(try process.get("counter", session).document == ["count": .init(count)])
        }
        #expect(count > 3)
    }

    @Test("a token that one has replaced is refused by the other")
    func signIn() async throws {
        let (one, two) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        #expect(try await two.isAuthenticated(token))
        let new = try await one.sessions.attachUser("ada", to: session)
        #expect(try await !two.isAuthenticated(token))
        let there = try await two.sessions.authenticate(new.presented)
        #expect(there.identity.userID == "ada")
    }

    @Test("a session that one has ended is gone for the other, whose watchers are told")
    func end() async throws {
        let (one, two) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        let there = try await two.sessions.authenticate(token.presented)
        let watcher = try there.watch(token: token.digest)
        try await one.sessions.end(session)
        // The first event says so to the client, the second to the caller.
        guard case .commits(let commits) = await watcher.next(until: clock.now() + 1_000_000) else {
            Issue.record("no end")
            return
        }
        #expect(commits.flatMap(\.changes).contains(.ended(.elsewhere)))
        guard case .ended(.sessionEnded) = await watcher.next(until: clock.now() + 1_000_000) else {
            Issue.record("the watcher goes on")
            return
        }
        #expect(try await !two.isAuthenticated(token))
        #expect(try await two.sessions.session(session.id) == nil)
        #expect(two.sessions.registry.sessionCount == 0)
        watcher.leave()
    }

    @Test("a watcher is told what another process changes, in order and with its entity tag")
    func watching() async throws {
        let one = try process(flows: [Flows.loop], mainFlow: "loop")
        let two = try process(flows: [Flows.loop], mainFlow: "loop")
        let (session, token) = try await one.sessions.create()
        let there = try await two.sessions.authenticate(token.presented)
        let watcher = try there.watch(token: token.digest)
        let deadline = clock.now() + 1_000_000
        func next() async throws -> [SessionChange] {
            let event = await watcher.next(until: deadline)
            guard case .commits(let commits) = event else { throw Unexpected(event: event) }
            return commits.flatMap(\.changes)
        }
        let outcome = try await one.perform(.put(["count": 1]), on: "counter", session)
        #expect(try await next() == [.serviceChanged(name: "counter", etag: outcome.etag)])
        try await one.perform(.clear, on: "counter", session)
        let cleared = try #require(try await next().first)
        if case .serviceCleared("counter", _) = cleared {} else { Issue.record("\(cleared)") }
        try await one.perform(.remove, on: "counter", session)
        #expect(try await next() == [.serviceRemoved(name: "counter")])
        _ = try await session.send("again", toJourney: "main")
        #expect(try await next().contains { $0.shownJourney == "main" })
        watcher.leave()
    }

    private struct Unexpected: Error {
        let event: SessionWatcher.Event
    }

    @Test("a use elsewhere keeps a session, here as well")
    func uses() async throws {
        let (one, two) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        let spy = try ChangeSpy(session)
        _ = try await two.sessions.authenticate(token.presented)
        for _ in 0..<30 {
            clock.advance(10_000)
            _ = try await one.sessions.authenticate(token.presented)
            try await one.sessions.saveUses()
            await two.sessions.sweep()
            try await two.sessions.saveUses()
        }
        #expect(try await two.isAuthenticated(token))
        clock.advance(70_000)
        for process in [one, two] { await process.sessions.sweep() }
        #expect(try await !two.isAuthenticated(token))
        #expect(spy.changes.last == .ended(.expired))
    }

    @Test("a caller that waits for a task gets one that another process began")
    func tasks() async throws {
        let flow = """
            {"id": "work", "version": 1, "initial": "ready", "on": {"begin": {"target": "busy"}}, "states": {
               "ready": {}, "ok": {},
               "busy": {"type": "task", "task": "work", "timeout": "300h", "on": {"done": {"target": "ok"}}}}}
            """
        // Whoever waits lets a second go by.
        let clock = ManualClock()
        let (one, two) = try (process(clock), process(clock))
        func process(_ clock: ManualClock) throws -> SessionsFixture {
            try SessionsFixture(store: hub.door(), clock: clock, flows: [flow], mainFlow: "work") {
                $0.idleTimeout = 1_000_000_000
                $0.lifetime = 1_000_000_000
            }
        }
        let session = try await one.session()
        _ = try await two.sessions.session(session.id)
        async let claimed = two.sessions.claimTasks(named: "work", max: 1, lease: 10_000_000, wait: 100_000_000)
        _ = try await session.send("begin", toJourney: "main")
        let task = try #require(try await claimed.first)
        try await two.sessions.endTask(task.task.id, outcome: "ok")
        let here = try #require(try await one.sessions.session(session.id))
        #expect(try await here.journey("main").view.screen?.id == "ok")
    }

    @Test(
        "a session that another writes or uses at the last moment does not end for a new one", arguments: [true, false])
    func shedding(isWritten: Bool) async throws {
        let two = try process()
        let one = try SessionsFixture(store: hub.door(), clock: clock) { $0.maxSessions = 1 }
        let (session, token) = try await one.sessions.create()
        let there = try await two.sessions.authenticate(token.presented, isUse: false)
        clock.advance(10_000)
        try door(of: one).beforeEnd.withLock {
            $0 = { () async throws(StoreError) in
                if isWritten {
                    _ = try? await two.perform(.put(["count": 1]), on: "counter", there)
                } else {
                    try await two.store.touch([SessionUse(id: there.id, usedAt: two.clock.now())])
                }
            }
        }
        await #expect(throws: SessionError.tooManySessions) { try await one.session() }
        #expect(try await one.isAuthenticated(token) && one.sessions.statistics.shed == 0)
        #expect(try await two.store.load(session.id)?.record.revision == (isWritten ? 2 : 1))
    }

    @Test("every process counts the sessions of all")
    func count() async throws {
        let (one, two) = (try process(), try process())
        for _ in 0..<5 { _ = try await one.session() }
        two.sessions.countStored()
        #expect(two.sessions.registry.total == 5)
    }
}
