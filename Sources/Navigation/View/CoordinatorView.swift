/// A coordinator with those that it has started, oldest first.
public struct CoordinatorView: Sendable, Equatable {
    /// The id of the flow that it runs.
    public let flow: String
    /// The state of its highest frame; where that is a child's, the state that started the child.
    public let state: String
    /// The coordinators that it has started.
    public let children: [CoordinatorView]

    /// A coordinator as a client sees it.
    public init(flow: String, state: String, children: [CoordinatorView] = []) {
        self.flow = flow
        self.state = state
        self.children = children
    }
}
