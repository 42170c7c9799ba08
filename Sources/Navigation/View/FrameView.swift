/// A screen on the stack.
public struct FrameView: Sendable, Equatable {
    public let flow: String
    public let screen: String
    public let presentation: Frame.Presentation

    public init(flow: String, screen: String, presentation: Frame.Presentation) {
        self.flow = flow
        self.screen = screen
        self.presentation = presentation
    }
}
