import Sessions
import Synchronization

/// The time of a simulation: it begins now, and moves when the script says so.
final class SimulationClock: SessionClock {
    private let time: Atomic<Int64>

    init(startingAt start: Int64 = SystemClock().now()) { time = Atomic(start) }

    func now() -> Int64 { time.load(ordering: .relaxed) }

    func wall(at steady: Int64) -> Int64 { steady }

    /// Nobody waits in a simulation.
    func sleep(milliseconds: Int64) async throws {}

    func advance(_ duration: Duration) {
        let milliseconds = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        time.wrappingAdd(milliseconds, ordering: .relaxed)
    }
}
