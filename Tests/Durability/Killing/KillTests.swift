import Glibc
import Support
import Testing

@Suite("Killed at a random moment, the program loses nothing that it acknowledged")
struct KillTests {
    @Test("a few kills")
    func few() async throws {
        try await withFolder(Server.files) { _, folder in
            var torture = Torture(folder: folder, seed: .random(in: 0...UInt64.max), mostAcknowledgements: 600)
            while torture.kills < 5 { try await torture.round() }
            #expect(torture.acknowledgements > 0, "nothing was acknowledged, and nothing shown (seed \(torture.seed))")
        }
    }

    /// The duration in seconds, from `make torture`.
    private static let seconds = getenv("TORTURE_SECONDS").flatMap { Int(String(cString: $0)) }
    /// A busy machine takes longer: what the kills find depends on their number.
    private static let fewestKills = 12
    private static let seed = getenv("TORTURE_SEED").flatMap { UInt64(String(cString: $0)) }

    @Test("many kills", .enabled(if: seconds != nil, "it takes minutes: make torture"), .timeLimit(.minutes(1_440)))
    func many() async throws {
        let seed = Self.seed ?? .random(in: 0...UInt64.max)
        let end = ContinuousClock.now + .seconds(Self.seconds ?? 0)
        try await withFolder(Server.files) { _, folder in
            var torture = Torture(folder: folder, seed: seed, mostAcknowledgements: 2_600)
            defer {
                print(
                    "torture: \(torture.kills) kills, \(torture.acknowledgements) acknowledgements, "
                        + "\(torture.unknown) requests without a response (seed \(seed))")
            }
            while ContinuousClock.now < end || torture.kills < Self.fewestKills { try await torture.round() }
        }
    }
}
