/// Whether a journey goes on, has finished, or has expired.
public enum JourneyStatus: String, Sendable, CaseIterable {
    case active
    /// The flow reached an end, or none of it was left.
    case finished
    /// Its time has passed.
    case expired
}
