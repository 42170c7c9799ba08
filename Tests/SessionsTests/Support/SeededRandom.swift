import SeededRandomness
import Sessions
import Synchronization

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
