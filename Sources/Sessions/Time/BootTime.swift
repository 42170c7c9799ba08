import Glibc
import Synchronization

/// `CLOCK_BOOTTIME` in milliseconds, at a quarter of its price.
///
/// There is no coarse form of that clock, which every request would read. So this is the coarse monotonic clock, some
/// milliseconds late (clock_gettime(2)), and how long the machine has slept, which is looked at a few times a second.
final class BootTime: Sendable {
    /// How far the boot clock is ahead of the monotonic one.
    private let slept = Atomic<Int64>(0)
    /// The monotonic time at which to look again.
    private let lookAt = Atomic<Int64>(.min)

    private static let interval: Int64 = 250

    init() { look(at: milliseconds(of: CLOCK_MONOTONIC_COARSE)) }

    /// It never goes back.
    func now() -> Int64 {
        let monotonic = milliseconds(of: CLOCK_MONOTONIC_COARSE)
        if monotonic >= lookAt.load(ordering: .relaxed) { look(at: monotonic) }
        return monotonic + slept.load(ordering: .relaxed)
    }

    @inline(never)
    private func look(at monotonic: Int64) {
        lookAt.store(monotonic + Self.interval, ordering: .relaxed)
        note(slept: milliseconds(of: CLOCK_BOOTTIME) - milliseconds(of: CLOCK_MONOTONIC))
    }

    /// The machine has slept so long since it was started.
    func note(slept measured: Int64) {
        // Two clocks cannot be read at one instant. A machine sleeps for longer than that, and never the other way.
        guard measured - slept.load(ordering: .relaxed) > Self.smallestSleep else { return }
        slept.store(measured, ordering: .relaxed)
    }

    private static let smallestSleep: Int64 = 100
}

func milliseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
