import JSONDocument

/// A screen on the navigation stack.
public struct Frame: Sendable {
    /// The id of the coordinator whose flow has the screen.
    public let coordinator: Int
    /// The id of the state.
    public var state: String
    /// How the screen came onto the stack.
    public var presentation: Presentation
    /// Whether going back may end here, as far as history is concerned.
    public var mark: Mark = .none
    /// The values that the transition gave to the frame; nil when it gave none.
    public var params: JSONDocument?
    /// The index of the state in its flow, if a step has looked it up: see ``FlowDefinition/place(of:)-(Frame)``.
    var knownPlace: Int32 = -1

    /// How a screen came onto the stack.
    public enum Presentation: String, Sendable, CaseIterable {
        /// The first frame of the stack.
        case root
        /// A frame on top of another.
        case push
        /// The first frame of a modal context.
        case modal

        var beginsContext: Bool { self != .push }
    }

    /// Whether going back may end at a frame, as far as history is concerned.
    public enum Mark: Int, Sendable {
        /// It may.
        case none
        /// Going back skips the frame.
        case discarded
        /// Going back never reaches the frame, nor any below it.
        case invalidated
    }
}

extension Frame {
    /// A frame of a screen, not on a stack yet.
    ///
    /// - Parameter state: the index in the flow.
    init(of state: Int, in flow: FlowDefinition, _ coordinator: Int, with params: JSONDocument? = nil) {
        self.init(
            coordinator: coordinator, state: flow.states[state].id, presentation: .push, params: params,
            knownPlace: Int32(clamping: state))
    }
}

extension Frame: Equatable {
    /// Compares everything but the known index.
    public static func == (one: Frame, other: Frame) -> Bool {
        one.coordinator == other.coordinator && one.state == other.state && one.presentation == other.presentation
            && one.mark == other.mark && one.params == other.params
    }
}
