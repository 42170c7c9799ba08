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

    init(wanted: Int) { self.wanted = wanted }

    func next() -> Int { clock.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    func acknowledge() {
        if acknowledgements.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == wanted { isTime.happen() }
    }

    var acknowledged: Int { acknowledgements.load(ordering: .sequentiallyConsistent) }
}
