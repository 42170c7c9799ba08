/// A state that runs another flow on top of the same stack.
public final class ChildFlow: Sendable {
    /// The id of the flow that the child runs.
    public let flow: String
    /// Nil is the highest version that is loaded.
    public let version: Int?
    /// What the child gets as its input; nil is an empty object.
    public let input: ValueTemplate?
    /// What is done when the child has ended with that outcome.
    public let ends: [ChildEnd]

    /// Told when the child was left without reaching a `final`: gone back from, dismissed, popped.
    public static let abandoned = "abandoned"
    /// Told when the child's own timeout has passed.
    public static let expired = "expired"

    init(flow: String, version: Int?, input: ValueTemplate?, ends: [ChildEnd]) {
        self.flow = flow
        self.version = version
        self.input = input
        self.ends = ends
    }

    /// What to do at an end: `done.<outcome>` if it is there, else `done`.
    ///
    /// `done` speaks for the ends that the child reached by a `final`. A child that was abandoned, or ran out of time,
    /// did not do what it was started for, and only `done.abandoned` and `done.expired` speak for that.
    public func transitions(after outcome: String, byFinal: Bool) -> [Transition] {
        if let own = ends.first(where: { $0.outcome == outcome }) { return own.transitions }
        return byFinal ? ends.first { $0.outcome == nil }?.transitions ?? [] : []
    }
}

/// The transitions of `done.<outcome>`.
public struct ChildEnd: Sendable {
    /// Nil for `done`.
    public let outcome: String?
    /// Its transitions, in order; the first whose guard holds is taken.
    public let transitions: [Transition]
}
