/// A store that keeps its sessions in one file of this machine.
package protocol FileStore: SessionStore {
    /// An opaque text that identifies the file.
    var file: String { get }

    /// Damage that was found since the process started.
    var damage: StoreDamage { get }

    /// Returns space of ended sessions to the system, at most `pages` pages, so that no write waits long. A store with
    /// much free space does so by itself; this is for callers that want all of it.
    func giveBackSpace(atMost pages: Int) async throws(StoreError) -> SpaceGivenBack
}

/// The result of returning unused space, in the store's pages.
package struct SpaceGivenBack: Sendable, Equatable {
    package let given: Int
    /// Pages that are still free. The next session is stored there, unless they are returned as well.
    package let left: Int
    /// False for a file that cannot shrink while it is in use.
    package let isPossible: Bool

    package init(given: Int, left: Int, isPossible: Bool) {
        self.given = given
        self.left = left
        self.isPossible = isPossible
    }
}

/// Damage that the store has read since the process started.
package struct StoreDamage: Sendable, Equatable {
    /// Damaged rows, counted at each read. They are treated as missing.
    package var rows = 0
    /// Pages that did not match their checksums, each counted once. Their content may be missing.
    package var pages = 0

    package init(rows: Int = 0, pages: Int = 0) {
        self.rows = rows
        self.pages = pages
    }
}
