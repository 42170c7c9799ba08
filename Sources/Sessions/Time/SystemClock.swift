import Glibc
import Synchronization

/// The machine's clocks: ``BootTime`` for decisions (it continues while the machine sleeps and cannot be set),
/// `CLOCK_REALTIME` for times that are shown.
package final class SystemClock: SessionClock {
    private let readBoot: @Sendable () -> Int64
    private let readWall: @Sendable () -> Int64
    /// Steady time minus boot time.
    private let base: Atomic<Int64>
    /// Wall time minus steady time.
    private let offset = Atomic<Int64>(0)

    package convenience init() {
        let boot = BootTime()
        self.init(boot: boot.now, wall: { milliseconds(of: CLOCK_REALTIME) })
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
