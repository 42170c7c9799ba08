import FlowTools
import JSONDocument
import Navigation
import SeededRandomness
import Testing

@testable import Sessions

/// Attempts, leases and the time of tasks, side by side with a model that looks at every task for each question.
@Suite("Tasks of many sessions, by a naive model")
struct TaskModelTests {
    /// A session, and what its journey waits for.
    fileprivate struct Client {
        let session: Session
        var task: Work?
        /// Its last task, which is over.
        var former: TaskID?
        var screen = "ready"
    }

    fileprivate struct Work {
        let id: TaskID
        let endsAt: Int64
        var attempt = 0
        /// When it may be handed out. While somebody has it, the end of the lease.
        var readyAt: Int64
        var isClaimed = false

        func isReady(_ now: Int64) -> Bool { attempt < TaskModelTests.attempts && readyAt <= now }
    }

    private static let attempts = 3
    private static let timeout: Int64 = 20_000
    private static let flow = """
        {"id": "work", "version": 1, "initial": "ready",
         "on": {"begin": {"target": "busy"}, "leave": {"target": "ready", "nav": "set_root"}}, "states": {
           "ready": {}, "ok": {}, "failed": {}, "late": {},
           "busy": {"type": "task", "task": "work", "timeout": "20s", "back": true,
             "retry": {"attempts": 3, "after": "1s", "factor": 2},
             "on": {"done.ok": {"target": "ok", "nav": "set_root"}, "done.failed": {"target": "failed", "nav": "set_root"},
                    "done.timeout": {"target": "late", "nav": "set_root"}}}}}
        """

    private static func sessions(_ clock: ManualClock, store: any SessionStore = MemoryStore()) throws -> Sessions {
        let services = try ServiceCatalog()
        let loaded = FlowLoader(services: services.directory).load([
            FlowFile(name: "work.json", bytes: Array(flow.utf8))
        ])
        return Sessions(
            settings: SessionSettings(), catalog: services, store: store, clock: clock, random: SystemRandom(),
            journeys: JourneySettings(
                engine: FlowEngine(catalog: try #require(loaded.catalog, "\(loaded.problems)")), mainFlow: "work",
                maxJourneys: 16))
    }

    @Test("a task whose session cannot be loaded loses no attempt, and is handed out again a second later")
    func unloaded() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let former = try Self.sessions(clock, store: store)
        let (session, _) = try await former.create()
        _ = try await session.send("begin", toJourney: "main")
        // Another process, with nothing in memory.
        let sessions = try Self.sessions(clock, store: store)
        func claim() async throws -> [ClaimedTask] {
            try await sessions.claimTasks(named: "work", max: 1, lease: 60_000, wait: 0)
        }
        store.beforeLoad.withLock { $0 = { _ throws(StoreError) in throw .unavailable("read") } }
        await #expect(throws: SessionError.self) { try await claim() }
        store.beforeLoad.withLock { $0 = nil }
        #expect(try await claim().isEmpty)
        clock.advance(1_000)
        #expect(try await claim().map(\.task.attempt) == [1])
        // Its end lets go of the session, whose journeys it remembers.
        withExtendedLifetime(former) {}
    }

    @Test("1,000 random steps hand out, take and refuse what the model says", arguments: 0..<8)
    func random(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let clock = ManualClock(isStill: true)
        let sessions = try Self.sessions(clock)
        var clients: [Client] = []
        for _ in 0..<5 { clients.append(Client(session: try await sessions.create().0)) }
        for number in 0..<1_000 {
            let place = Int.random(in: clients.indices, using: &generator)
            let now = clock.now()
            let verb = try #require(
                ["begin", "begin", "claim", "claim", "result", "failure", "extend", "wait", "wait", "leave", "former"]
                    .randomElement(using: &generator))
            let story: Comment = "seed \(seed), step \(number), \(verb) of \(place)"
            let work = clients[place].task
            switch verb {
            case "begin" where work == nil:
                let shown = try await clients[place].session.send("begin", toJourney: "main")
                let step = try #require(try JSONDocument(parsing: shown.bytes)[member: "step"]?.int)
                clients[place].task = Work(
                    id: TaskID(session: clients[place].session.id, journey: "main", number: UInt64(step)),
                    endsAt: now + Self.timeout, readyAt: now)
            case "leave" where work != nil:
                let event = Bool.random(using: &generator) ? "leave" : "back"
                // Back is where the task was begun.
                let below = clients[place].screen
                _ = try await clients[place].session.send(event, toJourney: "main")
                clients[place].end(on: event == "leave" ? "ready" : below)
            case "claim":
                let lease = Int64.random(in: 1...4, using: &generator) * 1_000
                let claimed = try await sessions.claimTasks(named: "work", max: 10, lease: lease, wait: 0)
                let ready = clients.indices.filter { clients[$0].task?.isReady(now) ?? false }
                for place in ready { clients[place].task?.claim(until: now + lease) }
                #expect(
                    Set(claimed.map { "\($0.task.id) \($0.task.attempt)" })
                        == Set(ready.compactMap { clients[$0].task.map { "\($0.id) \($0.attempt)" } }), story)
                #expect(claimed.count == ready.count, story)
            case "result":
                guard let work else { continue }
                // Whoever sends it: it counts until the task is over.
                try await sessions.endTask(work.id, outcome: "ok")
                clients[place].end(on: "ok")
            case "failure":
                guard let work, work.isClaimed, work.readyAt > now else { continue }
                let after = Bool.random(using: &generator) ? Int64(2_500) : nil
                try await sessions.failTask(work.id, attempt: work.attempt, reason: "?", retryAfter: after)
                if work.attempt == Self.attempts {
                    clients[place].end(on: "failed")
                } else {
                    clients[place].task?.isClaimed = false
                    clients[place].task?.readyAt = now + (after ?? (work.attempt == 1 ? 1_000 : 2_000))
                }
            case "extend":
                guard let work else { continue }
                if work.isClaimed {
                    _ = try await sessions.extendTask(work.id, attempt: nil, lease: 5_000)
                    clients[place].task?.readyAt = now + 5_000
                } else {
                    await #expect(throws: TaskError.notClaimed, story) {
                        try await sessions.extendTask(work.id, attempt: nil, lease: 5_000)
                    }
                }
            case "former":
                guard let former = clients[place].former else { continue }
                await #expect(throws: TaskError.over, story) { try await sessions.endTask(former, outcome: "ok") }
                await #expect(throws: TaskError.over, story) {
                    try await sessions.failTask(former, attempt: nil, reason: "?")
                }
            case "wait":
                clock.advance(500)
                for place in clients.indices {
                    guard let work = clients[place].task else { continue }
                    if work.endsAt <= clock.now() {
                        clients[place].end(on: "late")
                    } else if work.attempt == Self.attempts, work.readyAt <= clock.now() {
                        clients[place].end(on: "failed")
                    }
                }
                await sessions.sweepDue()
                await sessions.sweepTasks()
            default: continue
            }
            try await Self.compare(clients, sessions, clock.now(), story)
        }
    }

    private static func compare(
        _ clients: [Client], _ sessions: Sessions, _ now: Int64, _ story: Comment
    ) async throws {
        let listed = try await sessions.tasks(limit: 100).map { "\($0.id) \($0.attempt) \($0.status(at: now))" }
        let expected = clients.compactMap { $0.task }.map { work in
            "\(work.id) \(work.attempt) \(work.isClaimed && work.readyAt > now ? TaskStatus.claimed : .waiting)"
        }
        #expect(listed.sorted() == expected.sorted(), story)
        for client in clients {
            let view = try JSONDocument(parsing: try await client.session.journey("main").bytes)
            #expect(
                view[member: "screen"]?[member: "id"]?.string == (client.task == nil ? client.screen : "busy"), story)
        }
    }
}

extension TaskModelTests.Client {
    fileprivate mutating func end(on screen: String) {
        former = task?.id
        task = nil
        self.screen = screen
    }
}

extension TaskModelTests.Work {
    fileprivate mutating func claim(until end: Int64) {
        attempt += 1
        readyAt = end
        isClaimed = true
    }
}
