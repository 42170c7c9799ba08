extension Sessions {
    /// Derives the tasks that a damaged store has lost from the journeys that wait for them. Attempts are counted from
    /// the first again.
    package func restoreTasks() async {
        guard let store = environment.store as? any FileStore, store.hasLostTasks else { return }
        do {
            var (next, isComplete) = (SessionID?.none, true)
            repeat {
                let page = try await store.page(after: next, limit: Self.restoredPage)
                next = page.next
                let lost = page.sessions.compactMap { session -> RestoredTasks? in
                    let record = session.record
                    let tasks = environment.tasks(of: record)
                    if tasks.isEmpty { return nil }
                    return RestoredTasks(session: record.id, revision: record.revision, tasks: tasks)
                }
                let areRestored = try await store.restoreTasks(lost, areAll: next == nil && isComplete)
                isComplete = isComplete && areRestored
                environment.tasks.tell(lost.flatMap(\.tasks).map { .begun($0) })
                await Task.yield()
            } while next != nil && !Task.isCancelled
        } catch {
            // It is tried again with the next sweep.
        }
    }

    private static let restoredPage = 200
}
