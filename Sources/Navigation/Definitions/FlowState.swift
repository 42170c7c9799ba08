/// A state of a flow: something to draw, something to decide, another flow, or an end.
public struct FlowState: Sendable {
    /// The id of the state, unique in its flow.
    public let id: String
    /// What the state is, with what belongs to that.
    public let kind: Kind

    /// The kinds of states.
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

    /// The screen, if the state is one.
    public var screen: Screen? {
        if case .screen(let screen) = kind { screen } else { nil }
    }

    /// The child flow, if the state is one.
    public var childFlow: ChildFlow? {
        if case .flow(let child) = kind { child } else { nil }
    }

    /// Whether the state is a screen.
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
