/// A session from another installation, with any revision.
package struct SessionArrival: Sendable {
    package let session: StoredSession
    /// The revision of the session that it replaces as a whole; `nil` when no session of its id may exist.
    package let replacedRevision: UInt64?
    /// Versions of flows that its journeys run and that the store may not know.
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
