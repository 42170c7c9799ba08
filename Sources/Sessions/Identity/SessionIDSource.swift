import Synchronization

/// Makes the ids of new sessions, which grow with time.
///
/// The first half of an id is the time in milliseconds, in 48 bits, and 16 random bits; the second half is random. So
/// sessions that are created one after the other are adjacent in a tree that is ordered by id: creating one writes a
/// part of a page instead of a page of its own, and sessions that are used at the same time share pages.
final class SessionIDSource: Sendable {
    /// The first half of the newest id.
    private let newest = Atomic<UInt64>(0)

    /// An id that is greater than all before it, even when the clock has gone back.
    ///
    /// - Parameter now: in milliseconds since 1970.
    func next(at now: Int64, random: some RandomSource) -> SessionID {
        let random = SessionID(random: random)
        let wanted = UInt64(clamping: now) << 16 | random.high & 0xFFFF
        var known = newest.load(ordering: .relaxed)
        while true {
            let high = max(wanted, known + 1)
            let (isDone, found) = newest.weakCompareExchange(expected: known, desired: high, ordering: .relaxed)
            if isDone { return SessionID(high: high, low: random.low) }
            known = found
        }
    }
}
