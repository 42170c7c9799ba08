import SeededRandomness
import Sessions
import Synchronization

/// A clock that stands still until it is moved.
final class ManualClock: SessionClock {
    private let time = Mutex((steady: Int64(1_700_000_000_000), offset: Int64(0)))

    /// Whether who sleeps is not woken. Otherwise the time goes by at once.
    private let isStill: Bool

    init(isStill: Bool = false) { self.isStill = isStill }

    func now() -> Int64 { time.withLock { $0.steady } }
    func wall(at steady: Int64) -> Int64 { time.withLock { steady + $0.offset } }
    func sleep(milliseconds: Int64) async throws {
        if isStill { return try await Task.sleep(for: .seconds(86_400)) }
        advance(milliseconds)
        // Who sleeps in a loop lets others go on.
        await Task.yield()
    }

    /// Time goes by.
    func advance(_ milliseconds: Int64) { time.withLock { $0.steady += milliseconds } }
    /// Somebody sets the wall clock.
    func jump(_ milliseconds: Int64) { time.withLock { $0.offset += milliseconds } }
}

/// The same numbers for the same seed.
final class SeededRandom: RandomSource {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }

    /// A number below `bound`.
    func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: next()) }
    }
}
