/// A part of all sessions of a store, in the store's order.
package struct SessionPage: Sendable {
    /// An empty page need not be the last: ``next`` tells.
    package let sessions: [StoredSession]
    /// Where the next page begins, to be passed as `after`; `nil` on the last page. Greater than the `after` of this
    /// page in the store's order, so that reading pages ends.
    package let next: SessionID?
    /// Places of the store that could not be read and were skipped.
    package let skipped: Int

    package init(sessions: [StoredSession], next: SessionID?, skipped: Int = 0) {
        self.sessions = sessions
        self.next = next
        self.skipped = skipped
    }
}
