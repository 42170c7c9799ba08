import RedisTestServer
import Support
import Testing

@Suite("Killed while journeys move between sessions, the servers keep each at one place, and lose nothing of it")
struct MoveKillTests {
    /// Where sessions are, and by how many servers.
    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case file, redis

        var testDescription: String { rawValue }
    }

    @Test("a few kills", arguments: Place.allCases)
    func few(_ place: Place) async throws {
        try await kill(place, seed: .random(in: 0...UInt64.max)) { $0.kills >= 4 }
    }

    /// `TORTURE_MOVES=1000` goes on until as many moves were cut by a kill.
    @Test("many kills", Long.condition, .timeLimit(.minutes(1_440)), arguments: Place.allCases)
    func many(_ place: Place) async throws {
        let (end, cut) = (ContinuousClock.now + .seconds(Long.seconds ?? 0), Long.number("TORTURE_MOVES") ?? 0)
        try await kill(place, seed: Long.seed ?? .random(in: 0...UInt64.max)) {
            $0.kills >= 12 && $0.cut >= cut && ContinuousClock.now > end
        }
    }

    private func kill(_ place: Place, seed: UInt64, until isEnough: (MoveTorture.Report) -> Bool) async throws {
        let redis = place == .redis ? try RedisTestServer(isInMemory: true) : nil
        try await withFolder(Trip.files) { _, folder in
            var torture = MoveTorture(folder: folder, redis: redis, seed: seed)
            defer { print("moves, \(place): \(torture.report) (seed \(seed))") }
            repeat { try await torture.round() } while !isEnough(torture.report)
            try await torture.finish()
            #expect(torture.report.moves > 0)
        }
    }
}
