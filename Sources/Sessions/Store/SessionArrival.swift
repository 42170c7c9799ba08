/// A session that comes from another installation, with whatever revision it has.
package struct SessionArrival: Sendable {
    package let session: StoredSession
    /// That of the session whose place it takes, all of it; nil when there must be none of its id.
    package let replacedRevision: UInt64?
    /// Versions of flows that its journeys run and that the store may not have heard of.
    package let newFlows: [UsedFlow]
    /// Tasks that its journeys wait for. Those of a session whose place it takes are gone.
    package let tasks: [StoredTask]

    package init(
        session: StoredSession, replacedRevision: UInt64?, newFlows: [UsedFlow] = [], tasks: [StoredTask] = []
    ) {
        self.session = session
        self.replacedRevision = replacedRevision
        self.newFlows = newFlows
        self.tasks = tasks
    }
}
