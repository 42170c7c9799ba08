/// A screen on the navigation stack.
public struct Frame: Sendable {
    /// The id of the coordinator whose flow the screen belongs to.
    public let coordinator: Int
    /// The id of the screen in that flow.
    public var state: String
    /// How the screen came onto the stack.
    public var presentation: Presentation
    /// What going back may do with it.
    public var mark: Mark = .none
    /// Where the state stood among those of its flow when somebody looked: see ``FlowDefinition/place(of:)-(Frame)``.
    var knownPlace: Int32 = -1

    /// How a client presents a screen: as a root, pushed, or as the first of a modal context.
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

extension Frame: Equatable {
    public static func == (one: Frame, other: Frame) -> Bool {
        one.coordinator == other.coordinator && one.state == other.state && one.presentation == other.presentation
            && one.mark == other.mark
    }
}
