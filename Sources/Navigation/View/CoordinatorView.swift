/// A coordinator with those that it has started, oldest first.
public struct CoordinatorView: Sendable, Equatable {
    public let flow: String
    /// The state of its highest frame; where that is a child's, the state that started the child.
    public let state: String
    public let children: [CoordinatorView]

    public init(flow: String, state: String, children: [CoordinatorView] = []) {
        self.flow = flow
        self.state = state
        self.children = children
    }
}
