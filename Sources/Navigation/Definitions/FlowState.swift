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
