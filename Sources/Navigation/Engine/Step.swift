/// The result of a step. Store ``journey`` and apply ``changes``, both or neither.
public struct Step: Sendable {
    /// The journey after the step.
    public package(set) var journey: Journey
    /// The changes of services, in order. A service that was removed and then written is in the list twice.
    public let changes: [ServiceChange]
    /// What the step did, in order, for logs and tools.
    public let trace: [TraceEvent]
    /// The patches of migrations that are among ``changes``. They change the session's services once a session, so tell
    /// later steps of them: ``ServiceDocuments/isPatched(_:)``.
    public internal(set) var patches: [ServicePatch] = []
    /// Makes the view of the result cheaper: see ``FlowEngine/view(_:services:now:knowing:)``.
    public internal(set) var memory = GuardMemory()
}

/// The patch of a migration, as far as it changes the session's services.
public struct ServicePatch: Sendable, Hashable {
    /// The id of the flow.
    public let flow: String
    /// The version that the migration leads to.
    public let version: Int

    /// The patch that leads to a version of a flow.
    public init(flow: String, version: Int) {
        self.flow = flow
        self.version = version
    }
}

/// One thing that a step did.
public enum TraceEvent: Sendable, Equatable {
    /// The journey's own flow started.
    case started(flow: String, version: Int)
    /// A transition, or a branch of a choice, was taken; `transition` is its JSON Pointer in the flow's file.
    case taken(flow: String, version: Int, transition: String)
    /// Another frame came to the top. States are ids; nil before the first frame and after the last.
    case moved(from: String?, to: String?)
    /// A state started a child flow.
    case childStarted(flow: String, by: String)
    /// A child ended, and its parent was told.
    case childFinished(flow: String, outcome: String)
    /// A coordinator was released.
    case released(flow: String)
    /// A service was written.
    case serviceChanged(String)
    /// A service was set to its default.
    case serviceCleared(String)
    /// A service was removed.
    case serviceRemoved(String)
    /// The time limit of a screen was reached.
    case timedOut(state: String)
    /// A coordinator moved to another version of its flow.
    case migrated(flow: String, from: Int, to: Int)
    /// The journey's own flow reached an end.
    case finished(outcome: String)
    /// The journey's time was over.
    case expired
    /// The journey was given up.
    case abandoned
}
