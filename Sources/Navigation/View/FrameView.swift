/// A screen on the stack.
public struct FrameView: Sendable, Equatable {
    /// The id of the flow that the frame belongs to.
    public let flow: String
    /// The id of the state.
    public let screen: String
    /// How the screen came onto the stack.
    public let presentation: Frame.Presentation

    /// A frame as a client sees it.
    public init(flow: String, screen: String, presentation: Frame.Presentation) {
        self.flow = flow
        self.screen = screen
        self.presentation = presentation
    }
}
