/// How long a screen may be looked at, counted from when it was come to.
public struct ScreenTimeout: Sendable {
    /// In milliseconds.
    public let after: Int64
    /// What happens then; nil: the journey is expired.
    public let transition: Transition?
}
