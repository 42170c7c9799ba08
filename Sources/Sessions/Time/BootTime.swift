import Glibc
import Synchronization

/// `CLOCK_BOOTTIME` in milliseconds, at a quarter of its cost.
///
/// That clock has no coarse form, and every request would read it. So this adds the coarse monotonic clock, which is
/// late by up to a tick of the kernel (clock_gettime(2)), and the time that the machine has slept, which is read again
/// after a tick or two. For that long after a wake-up, the sleep is missing.
final class BootTime: Sendable {
    /// How far the boot clock is ahead of the monotonic clock.
    private let slept = Atomic<Int64>(0)
    /// The monotonic time at which to measure again.
    private let lookAt = Atomic<Int64>(.min)

    private static let interval: Int64 = 10

    init() { look(at: milliseconds(of: CLOCK_MONOTONIC_COARSE)) }

    /// On one thread it never goes back.
    func now() -> Int64 {
        let monotonic = milliseconds(of: CLOCK_MONOTONIC_COARSE)
        if monotonic >= lookAt.load(ordering: .relaxed) { look(at: monotonic) }
        return monotonic + slept.load(ordering: .relaxed)
    }

    @inline(never)
    private func look(at monotonic: Int64) {
        lookAt.store(monotonic + Self.interval, ordering: .relaxed)
        // In this order: the time between the two reads makes the result too small, which the next measurement
        // corrects.
        let boot = milliseconds(of: CLOCK_BOOTTIME)
        note(slept: boot - milliseconds(of: CLOCK_MONOTONIC))
    }

    /// The machine has slept at least this long since it started.
    func note(slept measured: Int64) { slept.max(measured, ordering: .relaxed) }
}

func milliseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
