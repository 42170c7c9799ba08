import SeededRandomness
import Sessions
import Synchronization

/// A clock that stands still until it is moved.
final class ManualClock: SessionClock {
    private let time = Mutex((steady: Int64(1_700_000_000_000), offset: Int64(0)))

    /// Whether who sleeps is not woken. Otherwise the time goes by at once.
    private let isStill: Bool
    /// Who would sleep beyond this moment is not woken either.
    private let end: Int64

    init(isStill: Bool = false, until end: Int64 = .max) { (self.isStill, self.end) = (isStill, end) }

    func now() -> Int64 { time.withLock { $0.steady } }
    func wall(at steady: Int64) -> Int64 { time.withLock { steady + $0.offset } }
    func sleep(milliseconds: Int64) async throws {
        let isWoken = time.withLock { time in
            guard !isStill, time.steady + milliseconds <= end else { return false }
            time.steady += milliseconds
            return true
        }
        guard isWoken else { return try await Task.sleep(for: .seconds(86_400)) }
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
