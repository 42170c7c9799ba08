import Navigation
import Synchronization

/// From where to where a step has led a journey.
package struct JourneyWay: Sendable, Hashable {
    /// The flow whose screen was left; of a journey that starts, the one whose screen was entered.
    package let flow: String
    /// The state whose frame was on top; nil for a journey that starts.
    package let from: String?
    /// The state whose frame is on top, of another flow than ``flow`` as `FLOW:STATE`. Of a journey that is over
    /// `(finished)` or `(expired)`.
    package let to: String

    /// - Parameter former: nil for a journey that was not there.
    init(from former: Journey?, to journey: Journey) {
        let left = former.flatMap { former in former.top.map { (former.flow(of: $0), $0.state) } }
        let entered = journey.top.map { (flow: journey.flow(of: $0), state: $0.state) }
        let flow = left?.0 ?? entered?.flow ?? journey.flow
        self.flow = flow
        from = left?.1
        to = entered.map { $0.flow == flow ? $0.state : "\($0.flow):\($0.state)" } ?? "(\(journey.status.rawValue))"
    }
}

extension Journey {
    fileprivate func flow(of frame: Frame) -> String { coordinator(frame.coordinator)?.flow ?? flow }
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
