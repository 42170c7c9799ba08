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
        guard case .interval(let interval) = durability else { return }
        if let syncDue, syncDue <= .now { sync() }
        // After an error this thread mends it also when there is nothing to sync.
        if current == nil, syncDue == nil { syncDue = .now + interval }
    }

    /// Whatever was answered before, and could not be synced, is in the log. To open the file anew writes that back to the
    /// file, and syncs it there.
    private func sync() {
        syncDue = nil
        guard let writer = current?.writer else { return commit([Probe()]) }
        do throws(SQLiteError) {
            try writer.connection.syncLog()
        } catch {
            note(error)
        }
    }
}
