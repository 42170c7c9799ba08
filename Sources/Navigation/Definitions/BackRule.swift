/// What going back from a screen does.
public enum BackRule: Sendable, Equatable {
    /// To the nearest frame below that can be gone back to.
    case allowed
    case forbidden
    /// To the nearest frame of that state, a place in the flow's states; the screen takes its place when there is none.
    case target(Int)
}
