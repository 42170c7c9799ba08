import Sessions
import Synchronization

/// A clock that stands still until it is moved.
final class StandingClock: SessionClock {
    private let time = Mutex(Int64(1_700_000_000_000))

    func now() -> Int64 { time.withLock { $0 } }
    func wall(at steady: Int64) -> Int64 { steady }
    func sleep(milliseconds: Int64) async throws { advance(milliseconds) }

    func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}
