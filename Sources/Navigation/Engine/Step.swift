/// What became of a journey: keep ``journey`` and do ``changes``, both or neither.
public struct Step: Sendable {
    public let journey: Journey
    /// What is to be done to services, in order. A service is in it more than once when it was removed and written.
    public let changes: [ServiceChange]
    /// What happened, in order, for the log and for those who watch.
    public let happenings: [Happening]
    /// Makes the view of the result cheaper: see ``FlowEngine/view(_:services:now:knowing:)``.
    public internal(set) var memory = GuardMemory()
}

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
