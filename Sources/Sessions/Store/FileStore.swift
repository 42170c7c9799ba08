/// A store that keeps its sessions in one file of this machine.
package protocol FileStore: SessionStore {
    /// An opaque text that identifies the file.
    var file: String { get }

    /// Damage that was found since the process started.
    var damage: StoreDamage { get }

    /// What it is doing, and has done since the process started.
    var figures: StoreFigures { get }

    /// Whether tasks or due times may be missing, which follow from the journeys: because of damage, or because an
    /// older program has made the file.
    var hasLostTasks: Bool { get }

    /// Adds the tasks of sessions, unless they are there, and sets their times.
    ///
    /// - Parameter areAll: whether these are the last that can be missing.
    /// - Returns: false when a session has changed since its tasks were derived: they have to be derived again.
    func restoreTasks(_ lost: [RestoredTasks], areAll: Bool) async throws(StoreError) -> Bool

    /// Whether the index of journeys may not say where they stand: because of damage, after a crash, or because an
    /// older program has made the file.
    var hasLostPlaces: Bool { get }

    /// Every session was placed since.
    func notePlacesAreKnown() async throws(StoreError)

    /// Returns space of ended sessions to the system, at most `pages` pages, so that no write waits long. A store with
    /// much free space does so by itself; this is for callers that want all of it.
    func giveBackSpace(atMost pages: Int) async throws(StoreError) -> SpaceGivenBack
}

/// The tasks that the journeys of a session wait for at one revision of it, and its times.
package struct RestoredTasks: Sendable {
    package let session: SessionID
    package let revision: UInt64
    package let tasks: [StoredTask]
    package let times: SessionTimes
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
    /// Damaged rows and documents, each counted once.
    package var rows = 0
    /// Pages that did not match their checksums, each counted once. Their content may be missing.
    package var pages = 0

    package init(rows: Int = 0, pages: Int = 0) {
        self.rows = rows
        self.pages = pages
    }
}
