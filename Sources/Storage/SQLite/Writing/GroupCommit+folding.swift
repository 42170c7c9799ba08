// The log of recent writes is emptied when there is nothing else to do, and at the end.
extension GroupCommit {
    /// When this thread has to look for something even if no job comes.
    var nextDue: SuspendingClock.Instant? {
        guard let foldDue else { return syncDue }
        return min(foldDue, syncDue ?? foldDue)
    }

    /// After each transaction. While jobs come in time the log empties itself, as far as it has to.
    func noteUnfolded() {
        let log = current?.writer.recent
        foldDue = log.flatMap { $0.isToBeFolded ? .now + $0.index.limits.idleTime : nil }
    }

    /// When nothing came for a while: some sessions, so that what comes now does not wait for all of them.
    func foldIfDue() {
        guard let due = foldDue, due <= .now else { return }
        let isDone = fold(atMost: Self.sessionsAtOnce)
        // One that could not be done is tried again when there is trouble no more.
        if isDone, foldDue != nil { foldDue = .now }
    }

    /// What is left is as safe in the log, and the next start goes on with it: whoever stops a server waits for little.
    func foldAtEnd() {
        let end = SuspendingClock.now + Self.longestEnd
        while current?.writer.recent.isToBeFolded == true, .now < end, fold(atMost: Self.sessionsAtOnce) {}
    }

    /// False when it could not be done. Nothing is lost then: the log stays.
    private func fold(atMost limit: Int) -> Bool {
        // The file is opened anew for those who want something of it.
        guard let log = current?.writer.recent else {
            foldDue = nil
            return false
        }
        foldDue = .now + log.index.limits.idleTime
        let job = Folding(atMost: limit)
        commit([job])
        return job.isDone
    }

    /// - Note: on the writer's thread alone.
    private final class Folding: WriteJob, @unchecked Sendable {
        private let limit: Int
        private(set) var isDone = false

        init(atMost limit: Int) { self.limit = limit }

        func apply(to writer: SessionWriter) throws(SQLiteError) { try writer.foldAll(atMost: limit) }
        func finish(_ error: SQLiteError?) { isDone = error == nil }
    }

    private static let longestEnd: Duration = .seconds(2)
    private static let sessionsAtOnce = 256
}
