/// What going back finds later of the screen that a transition leaves.
public enum HistoryPolicy: String, Sendable, CaseIterable {
    case preserve
    /// The frame is skipped.
    case discard
    /// Neither this frame nor any below it can be gone back to.
    case invalidate
}
