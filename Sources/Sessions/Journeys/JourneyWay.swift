import Navigation
import Synchronization

/// From where to where a step has led a journey. A class, because responses hand it on.
package final class JourneyWay: Sendable {
    package typealias Place = Journey.Screen

    /// The flow whose screen was left; of a journey that starts, the one whose screen was entered.
    package let flow: String
    /// That of the screen that was left.
    private let version: Int
    /// The state that was left; nil for a journey that starts.
    package let from: String?
    // The places are kept in parts, which are compared without copies.
    private let enteredFlow: String
    private let enteredVersion: Int
    private let enteredState: String?
    private let status: JourneyStatus

    /// - Parameters:
    ///   - left: nil for a journey that starts.
    ///   - entered: nil for a journey that is over.
    ///   - flow: that of the journey.
    package init(left: Place?, entered: Place?, status: JourneyStatus, ofFlow flow: String) {
        self.flow = left?.flow ?? entered?.flow ?? flow
        (version, from) = (left?.version ?? 0, left?.state)
        (enteredFlow, enteredVersion, enteredState) = (entered?.flow ?? flow, entered?.version ?? 0, entered?.state)
        self.status = status
    }

    /// Nil for a journey that starts.
    package var left: Place? { from.map { Place(flow: flow, version: version, state: $0) } }

    /// Nil for a journey that is over.
    package var entered: Place? {
        enteredState.map { Place(flow: enteredFlow, version: enteredVersion, state: $0) }
    }

    /// The state that was entered, of another flow than ``flow`` as `FLOW:STATE`. Of a journey that is over
    /// `(finished)` or `(expired)`.
    package var to: String {
        guard let enteredState else { return "(\(status.rawValue))" }
        return enteredFlow == flow ? enteredState : "\(enteredFlow):\(enteredState)"
    }

    /// Whether it led to another screen.
    var moves: Bool { from == nil || from != enteredState || flow != enteredFlow }
}

extension JourneyWay: Hashable {
    package static func == (one: JourneyWay, other: JourneyWay) -> Bool {
        one.enteredState == other.enteredState && one.from == other.from && one.flow == other.flow
            && one.enteredFlow == other.enteredFlow && one.version == other.version
            && one.enteredVersion == other.enteredVersion && one.status == other.status
    }

    /// Few ways end on one screen.
    package func hash(into hasher: inout Hasher) { hasher.combine(enteredState) }
}

/// How often journeys have gone which way, since the process started. There are as many ways as versions of flows have
/// pairs of states, and few of them are ever gone.
package final class TransitionCounts: Sendable {
    package struct Count: Sendable, Equatable {
        package var all = 0
        /// Those of one day alone.
        fileprivate var ofDay = 0
        fileprivate var day: Int64 = 0

        fileprivate mutating func add(on day: Int64) {
            all += 1
            ofDay = day == self.day ? ofDay + 1 : 1
            self.day = day
        }
    }

    /// When counting began. In steady time.
    package let since: Int64
    private let counts = Mutex<[JourneyWay: Count]>([:])

    package init(since: Int64) { self.since = since }

    /// - Parameter time: in steady time.
    package func count(_ way: JourneyWay, at time: Int64) {
        counts.withLock { $0[way, default: Count()].add(on: Self.day(of: time)) }
    }

    /// What was counted, and how much of it on the day of a time.
    package func counts(at time: Int64) -> [(way: JourneyWay, all: Int, today: Int)] {
        let today = Self.day(of: time)
        return counts.withLock { $0 }.map { ($0.key, $0.value.all, $0.value.day == today ? $0.value.ofDay : 0) }
    }

    /// The days of UTC.
    private static func day(of time: Int64) -> Int64 { time / 86_400_000 }

    /// In the order of flows and their states; those of all versions together.
    package var all: [(flow: String, from: String?, to: String, count: Int)] {
        struct Name: Hashable {
            let flow: String
            let from: String?
            let to: String
        }
        let sums = counts.withLock { $0 }.reduce(into: [Name: Int]()) { sums, entry in
            sums[Name(flow: entry.key.flow, from: entry.key.from, to: entry.key.to), default: 0] += entry.value.all
        }
        return sums.sorted { one, other in
            (one.key.flow, one.key.from ?? "", one.key.to) < (other.key.flow, other.key.from ?? "", other.key.to)
        }.map { ($0.key.flow, $0.key.from, $0.key.to, $0.value) }
    }
}
