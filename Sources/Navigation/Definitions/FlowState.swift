/// A state of a flow: something to draw, something to decide, another flow, or an end.
public struct FlowState: Sendable {
    public let id: String
    public let kind: Kind

    public enum Kind: Sendable {
        /// A frame on the stack that a client draws.
        case screen(Screen)
        /// Decides and moves on: the branches in the order in which they are tried.
        case choice([Branch])
        /// A child coordinator runs another flow on the same stack.
        case flow(ChildFlow)
        /// The flow is finished.
        case final(Ending)
    }

    public var screen: Screen? {
        if case .screen(let screen) = kind { screen } else { nil }
    }

    public var childFlow: ChildFlow? {
        if case .flow(let child) = kind { child } else { nil }
    }

    public var isScreen: Bool { screen != nil }

    /// As the file names it in `type`.
    public var typeName: String {
        switch kind {
        case .screen: "screen"
        case .choice: "choice"
        case .flow: "flow"
        case .final: "final"
        }
    }
}

/// A state that runs another flow on top of the same stack.
public final class ChildFlow: Sendable {
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
    public let transitions: [Transition]
}

/// A state in which the flow is finished.
public struct Ending: Sendable {
    /// What the parent is told and a finished journey shows; the state's id unless the file says otherwise.
    public let outcome: String
    /// What the flow hands back; nil is null.
    public let output: ValueTemplate?
}
