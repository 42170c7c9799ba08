import Glibc
import RedisTestServer
import SeededRandomness
import Sessions
import Testing

/// Three servers, one Redis, and everything that can happen between them.
@Suite("Histories of servers that share a Redis", .serialized)
struct SharedHistoryTests {
    /// `HISTORY=100000` operations are what a change of the store is tested with; `HISTORY_SEED` is the first seed,
    /// `HISTORY_RUNS` how many seeds there are.
    static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    @Test("every answer is explained by one order of all operations, each done once")
    func history() async throws {
        let first = Self.number("HISTORY_SEED") ?? 1
        for seed in first..<first + (Self.number("HISTORY_RUNS") ?? 1) {
            try await Self.run(seed: UInt64(seed), operations: Self.number("HISTORY") ?? 3_000)
        }
    }

    private static func run(seed: UInt64, operations: Int) async throws {
        var random = SeededGenerator(seed: seed)
        let violations = Violations()
        let keys = KeyModel(violations)
        // With few in memory, most reads load the session.
        let residents = Bool.random(using: &random) ? 8 : 10_000
        let fleet = try await Fleet(keys) { try SharedServer($0, residents: residents) }
        let tally = Tally(limit: operations)
        fleet.keySession = try await fleet[0].sessions.create().0.id
        let subjects = try await subjects(fleet, tally, violations, count: 24)
        let tickers = try await Tickers(fleet)
        let seeds = (0..<48).map { _ in random.next() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, seed) in seeds.enumerated() {
                var client = Client(fleet, subjects, tally, number: number, seed: seed)
                group.addTask { try await client.run() }
            }
            // An operation without an end would keep this test from its own.
            let watch = Task {
                while (try? await Task.sleep(for: .seconds(1))) != nil {
                    let stuck = tally.stuck
                    guard !stuck.isEmpty else { continue }
                    Issue.record("seed \(seed): not answered: \(stuck)")
                    tally.giveUp()
                    Task { for server in fleet.all { await server.close() } }
                    // Without an end of its own the whole run would have none.
                    guard (try? await Task.sleep(for: .seconds(60))) == nil else {
                        fatalError("seed \(seed): not answered: \(stuck)")
                    }
                    return
                }
            }
            defer { watch.cancel() }
            while !tally.isOver {
                await tally.wait(forMore: Int.random(in: 50...1_000, using: &random))
                try await fleet.harm(&random)
            }
            try await group.waitForAll()
        }
        if tally.hasGivenUp { return }
        await fleet.heal()
        try await finish(fleet, subjects, tally)
        try await tickers.finish(fleet, violations)
        keys.finish(executed: try await fleet.executedKeys(at: fleet[1]))
        let found = violations.all
        print(
            "seed \(seed): \(tally.answered) operations answered, \(tally.unknown) without an answer, "
                + "\(fleet.faultCount) faults (\(fleet.summary)), \(found.count) violations")
        #expect(found.isEmpty, "seed \(seed): \(found.prefix(5).joined(separator: "\n"))")
        for server in fleet.all { await server.close() }
    }

    private static func subjects(
        _ fleet: Fleet, _ tally: Tally, _ violations: Violations, count: Int
    ) async throws -> [Client.Subject] {
        var subjects: [Client.Subject] = []
        for place in 0..<count {
            let (session, token) = try await fleet[place % Fleet.size].sessions.create()
            let subject = Client.Subject(
                id: session.id, token: token, chain: ChainModel("session \(place)", violations),
                journey: JourneyModel("journey \(place)", violations), isMoved: place % 2 == 1)
            subjects.append(subject)
            let client = Client(fleet, [subject], tally, seed: 0)
            try await Client.begin(subject, tally.nextWrite * MirrorChange.allCases.count, client)
        }
        return subjects
    }

    /// Reads everything once more at every server, and does what is left to do.
    private static func finish(_ fleet: Fleet, _ subjects: [Client.Subject], _ tally: Tally) async throws {
        for subject in subjects {
            for place in 0..<Fleet.size {
                var client = Client(fleet, [subject], tally, seed: UInt64(place))
                while try await client.read(subject, fleet[place]) == .unknown {
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            subject.chain.finish()
        }
        // A worker that got no answer has let a lease end.
        for subject in subjects where !subject.isMoved {
            while true {
                do {
                    try await Client.work(fleet[0], subjects, wait: 10)
                    let session = try await fleet[1].sessions.session(subject.id)
                    if try await session?.journey("main").view.screen?.id == "ready" { break }
                } catch let error as SessionError where error.isTemporary {
                    continue
                }
            }
            subject.journey.finish()
        }
    }
}
