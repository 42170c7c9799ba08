import Glibc
import RedisTestServer
import Support
import Testing

/// What the long form is told by `make torture`.
enum Long {
    /// The duration in seconds; nil for the short form alone.
    static let seconds = number("TORTURE_SECONDS")
    static let seed = getenv("TORTURE_SEED").flatMap { UInt64(String(cString: $0)) }
    static let condition = ConditionTrait.enabled(if: seconds != nil, "it takes minutes: make torture")

    static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    /// Does rounds until the time is up, and at least so many kills: what they find depends on their number, and a busy
    /// machine takes longer for one.
    static func repeating(atLeast kills: Int, _ round: () async throws -> Int) async throws {
        let end = ContinuousClock.now + .seconds(seconds ?? 0)
        while try await round() < kills || ContinuousClock.now < end {}
    }
}

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

    @Test("many kills", Long.condition, .timeLimit(.minutes(1_440)))
    func many() async throws {
        try await withFolder(Server.files) { _, folder in
            var torture = Torture(
                folder: folder, seed: Long.seed ?? .random(in: 0...UInt64.max), mostAcknowledgements: 2_600)
            defer {
                print(
                    "torture: \(torture.kills) kills, \(torture.acknowledgements) acknowledgements, "
                        + "\(torture.unknown) requests without a response (seed \(torture.seed))")
            }
            try await Long.repeating(atLeast: 12) {
                try await torture.round()
                return torture.kills
            }
        }
    }
}

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

    @Test("many kills", Long.condition, .timeLimit(.minutes(1_440)))
    func many() async throws {
        try await withFolder(TaskTorture.files) { _, folder in
            var torture = TaskTorture(folder: folder, seed: Long.seed ?? .random(in: 0...UInt64.max))
            defer {
                print(
                    "tasks: \(torture.kills) kills, \(torture.begun) begun, \(torture.ended) ended "
                        + "(seed \(torture.seed))")
            }
            try await Long.repeating(atLeast: 24) {
                try await torture.round()
                return torture.kills
            }
            try await torture.finish()
        }
    }
}

@Suite("Killed while journeys wait for a time, the program forgets no time, and none comes twice")
struct TimerKillTests {
    @Test("a few kills")
    func few() async throws {
        try await withFolder(TimerTorture.files) { _, folder in
            var torture = TimerTorture(folder: folder, seed: .random(in: 0...UInt64.max))
            while torture.kills < 6 { try await torture.round() }
        }
    }

    @Test("many kills", Long.condition, .timeLimit(.minutes(1_440)))
    func many() async throws {
        try await withFolder(TimerTorture.files) { _, folder in
            var torture = TimerTorture(folder: folder, seed: Long.seed ?? .random(in: 0...UInt64.max))
            defer { print("timers: \(torture.kills) kills (seed \(torture.seed))") }
            try await Long.repeating(atLeast: 24) {
                try await torture.round()
                return torture.kills
            }
        }
    }
}

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

    /// `TORTURE_KILLS=300` is what a change of the store is tested with.
    @Test("many kills", Long.condition, .timeLimit(.minutes(1_440)), arguments: Place.allCases)
    func many(_ place: Place) async throws {
        try await kill(
            Long.number("TORTURE_KILLS") ?? 24, Long.seconds ?? 0, place,
            seed: Long.seed ?? .random(in: 0...UInt64.max))
    }

    private func kill(_ count: Int, _ seconds: Int, _ place: Place, seed: UInt64) async throws {
        let redis = place == .redis ? try RedisTestServer(isInMemory: true) : nil
        try await withFolder(KeyTorture.files) { _, folder in
            let torture = KeyTorture(folder: folder, redis: redis, servers: place.servers, seed: seed)
            let report = try await torture.run(kills: count, seconds: seconds)
            print("keys, \(place): \(report) (seed \(seed))")
            #expect(report.executed > 0 && report.replayed > 0, "seed \(seed)")
        }
    }
}
