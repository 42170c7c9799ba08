/// Something that happened in a step.
public enum Happening: Sendable, Equatable {
    case started(flow: String, version: Int)
    /// Another frame is looked at. States are ids; nil before the first and after the last.
    case moved(from: String?, to: String?)
    case childStarted(flow: String, by: String)
    /// The parent was told.
    case childFinished(flow: String, outcome: String)
    /// A coordinator is gone, with all that it had.
    case released(flow: String)
    case serviceChanged(String)
    case serviceCleared(String)
    case serviceRemoved(String)
    /// The time of a screen was over.
    case timedOut(state: String)
    case migrated(flow: String, from: Int, to: Int)
    case finished(outcome: String)
    case expired
    case abandoned
}
