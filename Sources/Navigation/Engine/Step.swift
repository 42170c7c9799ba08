/// What became of a journey: keep ``journey`` and do ``changes``, both or neither.
public struct Step: Sendable {
    /// The journey after the step.
    public let journey: Journey
    /// What is to be done to services, in order. A service is in it more than once when it was removed and written.
    public let changes: [ServiceChange]
    /// What happened, in order, for the log and for those who watch.
    public let happenings: [Happening]
    /// Makes the view of the result cheaper: see ``FlowEngine/view(_:services:now:knowing:)``.
    public internal(set) var memory = GuardMemory()
}
