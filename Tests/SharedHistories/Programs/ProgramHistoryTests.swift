import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import SeededRandomness
import Sessions
import Support
import Testing

/// The same with three programs, as they are shipped, and clients that speak HTTP.
@Suite("Histories of programs that share a Redis", .serialized)
struct ProgramHistoryTests {
    @Test("every response is explained by one order of all requests, each done once")
    func history() async throws {
        let first = SharedHistoryTests.number("HISTORY_SEED") ?? 1
        for seed in first..<first + (SharedHistoryTests.number("HISTORY_RUNS") ?? 1) {
            try await Self.run(seed: UInt64(seed), requests: SharedHistoryTests.number("HISTORY") ?? 1_500)
        }
    }

    private static func run(seed: UInt64, requests: Int) async throws {
        try await withFolder(ProgramServer.files) { _, folder in
            var random = SeededGenerator(seed: seed)
            let violations = Violations()
            // With few in memory, most reads load the session.
            let residents = Bool.random(using: &random) ? 8 : 10_000
            let fleet = try await Fleet<ProgramServer>(KeyModel(violations)) {
                try await ProgramServer($0, in: folder, residents: residents)
            }
            let tally = Tally(limit: requests)
            var subjects: [ProgramClient.Subject] = []
            for place in 0..<12 {
                let created = try await fleet[place % Fleet<ProgramServer>.size].client.send("POST", "/v1/sessions")
                let id = try #require(created[member: "session"]?[string: "id"].flatMap { SessionID($0) })
                subjects.append(
                    ProgramClient.Subject(
                        id: id, token: try #require(created[member: "token"]?.string),
                        chain: ChainModel("session \(place)", violations),
                        journey: JourneyModel("journey \(place)", violations),
                        notes: NoteModel("session \(place)", violations)))
            }
            let seeds = (0..<24).map { _ in random.next() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, seed) in seeds.enumerated() {
                    var client = ProgramClient(fleet, subjects, tally, number: number, seed: seed)
                    group.addTask { try await client.run() }
                }
                while !tally.isOver {
                    await tally.wait(forMore: Int.random(in: 20...200, using: &random))
                    try await fleet.harm(&random)
                }
                try await group.waitForAll()
            }
            await fleet.heal()
            try await finish(fleet, subjects, tally)
            let found = violations.all
            print(
                "seed \(seed), programs: \(tally.answered) requests answered, \(tally.unknown) without an answer, "
                    + "\(fleet.faultCount) faults (\(fleet.summary)), \(found.count) violations")
            #expect(found.isEmpty, "seed \(seed): \(found.prefix(5).joined(separator: "\n"))")
            for server in fleet.all { await server.close() }
        }
    }

    /// Reads everything once more at every program.
    private static func finish(
        _ fleet: Fleet<ProgramServer>, _ subjects: [ProgramClient.Subject], _ tally: Tally
    ) async throws {
        for subject in subjects {
            for place in 0..<Fleet<ProgramServer>.size {
                var client = ProgramClient(fleet, subjects, tally, seed: UInt64(place))
                while try await client.read(subject, fleet[place]) == .unknown {}
            }
            let client = ProgramClient(fleet, subjects, tally, seed: 0)
            var notes: [Int]?
            while notes == nil { notes = try await client.notes(of: subject, at: fleet[0]) }
            subject.chain.finish()
            subject.notes.finish(notes ?? [])
            subject.journey.finish()
        }
    }
}
