import Navigation
import Synchronization

/// From where to where a step has led a journey. A class, because responses hand it on.
package final class JourneyWay: Sendable {
    /// The flow whose screen was left; of a journey that starts, the one whose screen was entered.
    package let flow: String
    /// The state whose frame was on top; nil for a journey that starts.
    package let from: String?
    /// The state whose frame is on top, of another flow than ``flow`` as `FLOW:STATE`. Of a journey that is over
    /// `(finished)` or `(expired)`.
    package let to: String

    /// - Parameter former: nil for a journey that was not there, or was over.
    init(from former: Journey.Screen?, to entered: Journey.Screen?, of entry: KeptJourney) {
        let flow = former?.flow ?? entered?.flow ?? entry.journey.flow
        self.flow = flow
        from = former?.state
        to =
            if let entered { entered.flow == flow ? entered.state : "\(entered.flow):\(entered.state)" } else {
                "(\(entry.journey.status.rawValue))"
            }
    }
}

extension JourneyWay: Hashable {
    package static func == (one: JourneyWay, other: JourneyWay) -> Bool {
        one.to == other.to && one.from == other.from && one.flow == other.flow
    }

    /// Few ways end on one screen.
    package func hash(into hasher: inout Hasher) { hasher.combine(to) }
}

/// How often journeys have gone which way, since the process started. There are as many ways as flows have pairs of
/// states, and few of them are ever gone.
package final class TransitionCounts: Sendable {
    private let counts = Mutex<[JourneyWay: Int]>([:])

    func count(_ way: JourneyWay) { counts.withLock { $0[way, default: 0] += 1 } }

    /// In the order of flows and their states.
    package var all: [(way: JourneyWay, count: Int)] {
        counts.withLock { $0 }.sorted { one, other in
            (one.key.flow, one.key.from ?? "", one.key.to) < (other.key.flow, other.key.from ?? "", other.key.to)
        }.map { ($0.key, $0.value) }
    }
}
