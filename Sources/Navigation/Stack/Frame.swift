/// A screen on the navigation stack.
public struct Frame: Sendable, Equatable {
    /// The id of the coordinator whose flow the screen belongs to.
    public let coordinator: Int
    /// The id of the screen in that flow.
    public var state: String
    public var presentation: Presentation
    public var mark: Mark = .none

    public enum Presentation: String, Sendable {
        /// The first frame of the whole stack.
        case root
        case push
        /// The first frame of a modal context.
        case modal

        var beginsContext: Bool { self != .push }
    }

    /// Whether going back may end here, as far as history is concerned.
    public enum Mark: Int, Sendable {
        case none
        /// Going back skips it.
        case discarded
        /// Neither it nor any frame below it can be gone back to.
        case invalidated
    }
}
