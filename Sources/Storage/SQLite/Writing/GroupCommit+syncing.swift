import CSQLite

#if PLANTED_BUGS
    import Sessions
#endif

// Syncing after the answer. All of it runs on the writer's thread: so no commit comes between a sync that failed and what
// follows from it, and one sync in each interval is little to wait for.
extension GroupCommit {
    /// After a transaction: from now on there is something to sync.
    func noteUnsynced() {
        guard case .interval(let interval) = durability, syncDue == nil else { return }
        #if PLANTED_BUGS
            if PlantedBug.unsyncedInterval.isActive { return }
        #endif
        syncDue = .now + interval
    }

    /// Between two groups.
    func syncIfDue() {
        let isLong = (current?.connection.logPages ?? 0) >= Durability.pagesBeforeCheckpoint
        if let due = syncDue, isLong || due <= .now { sync() }
        if isLong { writeBack() }
        // An error of a group, with nothing to sync: this thread mends it all the same.
        if current == nil, syncDue == nil { tryAgainLater() }
    }

    /// Whatever was answered before, and could not be synced, is in the log. To open the file anew writes that back to the
    /// file, and syncs it there.
    private func sync() {
        guard let current else {
            commit([Probe()])
            if self.current == nil { tryAgainLater() }
            return
        }
        do throws(SQLiteError) {
            try current.connection.syncLog()
            syncDue = nil
        } catch {
            failed([], error)
            tryAgainLater()
        }
    }

    private func tryAgainLater() {
        guard case .interval(let interval) = durability else { return }
        syncDue = .now + interval
    }

    private func writeBack() {
        guard let connection = current?.connection else { return }
        do throws(SQLiteError) {
            try connection.checkpoint()
        } catch {
            // No room in the file, or somebody is at it from outside: the log goes on, and the next group tries again.
            guard error.primaryCode != SQLITE_FULL, error.primaryCode != SQLITE_BUSY else { return }
            failed([], error)
            tryAgainLater()
        }
    }

    /// When the store is closed everything is on the disk, whatever the policy.
    func syncAtEnd() {
        guard durability != .commit else { return }
        do throws(SQLiteError) {
            try opened().0.syncLog()
        } catch {
            report("\(error.description), when the store was closed")
        }
    }
}
