import Glibc
import Support
import Testing

@Suite("Killed with tasks in flight, the program loses none, makes none twice, and takes each result once")
struct TaskKillTests {
    @Test("a few kills")
    func few() async throws {
        try await withFolder(TaskTorture.files) { _, folder in
            var torture = TaskTorture(folder: folder, seed: .random(in: 0...UInt64.max))
            while torture.kills < 8 { try await torture.round() }
            try await torture.finish()
            #expect(torture.begun > 0 && torture.begun == torture.ended, "seed \(torture.seed)")
        }
    }

    /// The duration in seconds, from `make torture`.
    private static let seconds = getenv("TORTURE_SECONDS").flatMap { Int(String(cString: $0)) }
    private static let fewestKills = 24
    private static let seed = getenv("TORTURE_SEED").flatMap { UInt64(String(cString: $0)) }

    @Test("many kills", .enabled(if: seconds != nil, "it takes minutes: make torture"), .timeLimit(.minutes(1_440)))
    func many() async throws {
        let seed = Self.seed ?? .random(in: 0...UInt64.max)
        let end = ContinuousClock.now + .seconds(Self.seconds ?? 0)
        try await withFolder(TaskTorture.files) { _, folder in
            var torture = TaskTorture(folder: folder, seed: seed)
            defer {
                print("tasks: \(torture.kills) kills, \(torture.begun) begun, \(torture.ended) ended (seed \(seed))")
            }
            while ContinuousClock.now < end || torture.kills < Self.fewestKills { try await torture.round() }
            try await torture.finish()
        }
    }
}
