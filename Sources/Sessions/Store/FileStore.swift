/// A store that keeps its sessions in one file of this machine.
package protocol FileStore: SessionStore {
    /// Which file it has, in an opaque text that no other file has.
    var file: String { get }

    /// The damage that was found since the process started.
    var damage: StoreDamage { get }

    /// Gives room that ended sessions have left back to the system, at most so many pages, so that no write waits for
    /// long. A store does so by itself where there is much; this is for a caller who wants all of it.
    func giveBackSpace(atMost pages: Int) async throws(StoreError) -> SpaceGivenBack
}

/// What became of room that a store does not need any more, in its own pages.
package struct SpaceGivenBack: Sendable, Equatable {
    package let given: Int
    /// Free still: the next session goes there, unless it is given back as well.
    package let left: Int
    /// False for a file that cannot be made smaller while it is in use.
    package let isPossible: Bool

    package init(given: Int, left: Int, isPossible: Bool) {
        self.given = given
        self.left = left
        self.isPossible = isPossible
    }
}

/// What a store has read since the process started that is not as it was written.
package struct StoreDamage: Sendable, Equatable {
    /// Damaged rows, counted each time that one is read: they are as if they were not there.
    package var rows = 0
    /// Pages that did not fit their checksums, each counted once: what was on them may be missing.
    package var pages = 0

    package init(rows: Int = 0, pages: Int = 0) {
        self.rows = rows
        self.pages = pages
    }
}
