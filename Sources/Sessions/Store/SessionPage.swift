/// A part of all sessions of a store, in the store's order.
package struct SessionPage: Sendable {
    /// None of them is not the end: ``next`` says that.
    package let sessions: [StoredSession]
    /// Where the next page begins, to be passed as `after`; nil when nothing is behind this one. Greater than the `after`
    /// of this page in the store's order, so that a reader of pages comes to an end.
    package let next: SessionID?
    /// Places of the store that could not be read and were passed over.
    package let skipped: Int

    package init(sessions: [StoredSession], next: SessionID?, skipped: Int = 0) {
        self.sessions = sessions
        self.next = next
        self.skipped = skipped
    }
}
