import Sessions
import Synchronization

/// Whether this server wants traffic, and if not, why.
final class Readiness: Sendable {
    struct Check: Sendable {
        let name: String
        /// What is wrong, in a sentence; nil when nothing is.
        let failure: String?
    }

    private enum Phase: UInt8, AtomicRepresentable { case starting, serving, draining }

    private let phase = Atomic(Phase.starting)
    private let store: any SessionStore

    init(store: any SessionStore) { self.store = store }

    func beginServing() { phase.store(.serving, ordering: .releasing) }
    func beginDraining() { phase.store(.draining, ordering: .releasing) }

    var checks: [Check] {
        let failure: String? =
            switch phase.load(ordering: .acquiring) {
            case .starting: "The server is starting."
            case .serving: nil
            case .draining: "The server is stopping."
            }
        return [Check(name: "serving", failure: failure), Check(name: "store", failure: store.trouble)]
    }
}
