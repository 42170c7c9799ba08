import Glibc
import RedisTestServer
import Support
import Testing

@Suite("Killed at a random moment, the program executes each request with an idempotency key once, and replays it")
struct KeyKillTests {
    /// Where sessions are, and by how many servers.
    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case file, redis

        var testDescription: String { rawValue }
        var servers: Int { self == .file ? 1 : 3 }
    }

    @Test("a few kills", arguments: Place.allCases)
    func few(_ place: Place) async throws { try await kill(12, 0, place, seed: .random(in: 0...UInt64.max)) }

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }
    /// The duration in seconds, from `make torture`.
    private static let seconds = number("TORTURE_SECONDS")
    /// `TORTURE_KILLS=300` is what a change of the store is tested with.
    private static let kills = number("TORTURE_KILLS") ?? 24
    private static let seed = getenv("TORTURE_SEED").flatMap { UInt64(String(cString: $0)) }

    @Test(
        "many kills", .enabled(if: seconds != nil, "it takes minutes: make torture"), .timeLimit(.minutes(1_440)),
        arguments: Place.allCases)
    func many(_ place: Place) async throws {
        try await kill(Self.kills, Self.seconds ?? 0, place, seed: Self.seed ?? .random(in: 0...UInt64.max))
    }

    private func kill(_ count: Int, _ seconds: Int, _ place: Place, seed: UInt64) async throws {
        let redis = place == .redis ? try RedisTestServer(isInMemory: true) : nil
        try await withFolder(KeyTorture.files) { _, folder in
            let store = redis.map { "redis://127.0.0.1:\($0.port)" } ?? "sqlite:\(folder)/sessions.db"
            let torture = KeyTorture(folder: folder, store: store, servers: place.servers, seed: seed)
            let report = try await torture.run(kills: count, seconds: seconds)
            print("keys, \(place): \(report) (seed \(seed))")
            #expect(report.executed > 0 && report.replayed > 0, "seed \(seed)")
        }
        withExtendedLifetime(redis) {}
    }
}
