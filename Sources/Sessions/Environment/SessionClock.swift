import Glibc
import Synchronization

/// The time of sessions, in milliseconds. Passed in, so that tests can move it.
///
/// Everything is decided and stored in *steady* time: milliseconds since 1970 as if the wall clock had never been set
/// since the process started. So setting the wall clock neither ends a session early nor extends it. ``wall(at:)``
/// derives the times that people see.
package protocol SessionClock: AnyObject, Sendable {
    /// Now, in steady time.
    func now() -> Int64

    /// The wall time of a steady time. The same argument gives the same result unless the wall clock was set in
    /// between.
    func wall(at steady: Int64) -> Int64

    /// Steady time was wrong from the start, as other processes and the wall clock say: it goes on from this one.
    func correct(to steady: Int64)

    /// Waits, at most until the task is cancelled.
    func sleep(milliseconds: Int64) async throws
}

extension SessionClock {
    package func correct(to steady: Int64) {}
}

/// The machine's clocks: `CLOCK_BOOTTIME` for decisions (it continues while the machine sleeps and cannot be set),
/// `CLOCK_REALTIME` for times that are shown.
package final class SystemClock: SessionClock {
    private let readBoot: @Sendable () -> Int64
    private let readWall: @Sendable () -> Int64
    /// Steady time minus boot time.
    private let base: Atomic<Int64>
    /// Wall time minus steady time.
    private let offset = Atomic<Int64>(0)

    package convenience init() {
        self.init(boot: { milliseconds(of: CLOCK_BOOTTIME) }, wall: { milliseconds(of: CLOCK_REALTIME) })
    }

    /// With other clocks, both in milliseconds.
    init(boot: @escaping @Sendable () -> Int64, wall: @escaping @Sendable () -> Int64) {
        readBoot = boot
        readWall = wall
        base = Atomic(wall() - boot())
    }

    package func now() -> Int64 {
        base.load(ordering: .relaxed) + readBoot()
    }

    package func correct(to steady: Int64) { base.store(steady - readBoot(), ordering: .relaxed) }

    package func wall(at steady: Int64) -> Int64 {
        let measured = readWall() - now()
        let known = offset.load(ordering: .relaxed)
        // Two clocks cannot be read at the same instant, so following every millisecond of difference would show the
        // same time differently twice. Only setting a clock moves it by this much.
        guard abs(measured - known) > Self.smallestJump else { return steady + known }
        offset.store(measured, ordering: .relaxed)
        return steady + measured
    }

    package func sleep(milliseconds: Int64) async throws {
        try await Task.sleep(for: .milliseconds(milliseconds))
    }

    private static let smallestJump: Int64 = 500
}

private func milliseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
