import JSONDocument

/// The screen that is to be drawn.
public struct ScreenView: Sendable, Equatable {
    /// The state's id.
    public let id: String
    /// What a client draws: the `screen` of the state.
    public let name: String
    /// What a client may show above it.
    public let title: String?
    /// How the screen came onto the stack.
    public let presentation: Frame.Presentation
    /// The documents of the services that the screen shows, in the order of the file.
    public let data: [(service: String, document: JSONDocument)]

    public static func == (one: ScreenView, other: ScreenView) -> Bool {
        one.id == other.id && one.name == other.name && one.title == other.title
            && one.presentation == other.presentation && one.data.elementsEqual(other.data, by: ==)
    }
}
