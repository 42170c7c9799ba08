import HTTPTestClient
import Support
import Synchronization

/// State that the clients of a round share: a counting clock, numbers for writes, and the moment to kill.
final class Moments: Sendable {
    private let clock = Atomic<Int>(0)
    private let acknowledgements = Atomic<Int>(0)
    /// The number of acknowledgements before the kill.
    private let wanted: Int
    /// Whether enough was acknowledged, or no client goes on.
    let isTime = Event()
    /// Kills at once, in rounds that look for ends that are seen too early.
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

    /// A client has learned of an end by another client.
    func seeEnd() {
        guard let atFirstEnd else { return }
        atFirstEnd()
        isTime.happen()
    }

    var acknowledged: Int { acknowledgements.load(ordering: .sequentiallyConsistent) }
}
