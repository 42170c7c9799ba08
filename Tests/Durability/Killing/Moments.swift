import Support
import Synchronization

/// What the clients of one round share: a clock that counts, numbers for writes, and the moment to kill.
final class Moments: Sendable {
    private let clock = Atomic<Int>(0)
    private let acknowledgements = Atomic<Int>(0)
    /// So many are to be acknowledged before the kill.
    private let wanted: Int
    /// Enough was acknowledged, or nobody goes on.
    let isTime = Event()
    /// In rounds that look for ends which are seen too early: kills at once.
    private let atFirstEnd: (@Sendable () -> Void)?

    init(wanted: Int, atFirstEnd: (@Sendable () -> Void)? = nil) {
        self.wanted = wanted
        self.atFirstEnd = atFirstEnd
    }

    var looksForEnds: Bool { atFirstEnd != nil }

    func next() -> Int { clock.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    func acknowledge() {
        if acknowledgements.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == wanted { isTime.happen() }
    }

    /// Somebody was told that a session has ended which somebody else ended.
    func seeEnd() {
        guard let atFirstEnd else { return }
        atFirstEnd()
        isTime.happen()
    }

    var acknowledged: Int { acknowledgements.load(ordering: .sequentiallyConsistent) }
}
