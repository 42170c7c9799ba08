import CSQLite
import Synchronization

#if PLANTED_BUGS
    import Sessions
#endif

/// Writes what waits in one transaction with one sync, however many sessions it belongs to. While the disk is busy with
/// one group, the next one gathers.
///
/// After a sync that failed nobody knows what is on the disk, and a second one that succeeds says nothing: the kernel
/// has forgotten what it could not write. So nothing is acknowledged any more until the database was opened anew and
/// everything in its log was written, and synced, to the file itself.
///
/// Where the policy is to answer first, this thread syncs as well, also when nothing more comes (`GroupCommit+syncing.swift`).
///
/// `@unchecked Sendable`: `writer` is touched by the one thread that runs ``run()``; the rest looks after itself.
final class GroupCommit: @unchecked Sendable {
    private let queue = WorkQueue<any WriteJob>()
    private let open: @Sendable () throws(SQLiteError) -> (SQLiteConnection, SessionWriter)
    /// Nil after an error that may have left the file and SQLite's idea of it apart.
    var current: (connection: SQLiteConnection, writer: SessionWriter)?
    let durability: Durability
    /// When what was answered has to be on the disk; nil when all of it is, or the policy promises nothing.
    var syncDue: SuspendingClock.Instant?
    /// When what is in the log of recent writes is brought to where it belongs, unless something comes before; nil when it
    /// is empty.
    var foldDue: SuspendingClock.Instant?
    let report: @Sendable (String) -> Void
    /// Set between an error of the file and the next transaction that succeeds.
    private let failure = Mutex<Failure?>(nil)
    private let committedGroups = Atomic<Int>(0)
    private let isCheckpointDue = Atomic<Bool>(false)
    /// Held until the last job is done, whoever lets go of the store before.
    private let lock: FileLock
    private let end = Mutex<(isReached: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    /// - Parameters:
    ///   - report: is told when the file fails, in a sentence.
    ///   - open: opens the database for writing; called here, and again after trouble.
    init(
        lock: FileLock, durability: Durability = .commit, report: @escaping @Sendable (String) -> Void = { _ in },
        open: @escaping @Sendable () throws(SQLiteError) -> (SQLiteConnection, SessionWriter)
    ) throws(SQLiteError) {
        self.lock = lock
        self.durability = durability
        self.report = report
        self.open = open
        current = try open()
    }

    private struct Failure {
        let sentence: String
        var isProbed = false
    }

    /// What the last transaction failed for, unless it was a full disk, which is no reason to send readers away. Who asks
    /// has it looked at once more: without that, a server that gets no writes because it is not ready would stay so.
    var trouble: String? {
        let (sentence, isNew) = failure.withLock { failure -> (String?, Bool) in
            defer { failure?.isProbed = true }
            return (failure?.sentence, failure?.isProbed == false)
        }
        if isNew { append(Probe()) }
        return sentence
    }

    /// Nothing to write: whether there can be a transaction is all that is asked.
    final class Probe: WriteJob {
        func apply(to writer: SessionWriter) {}
        func finish(_ error: SQLiteError?) {}
    }

    /// Transactions so far.
    var groups: Int { committedGroups.load(ordering: .relaxed) }

    func append(_ job: any WriteJob) {
        guard !queue.append(job) else { return }
        job.finish(Self.closed)
    }

    /// Has the log written back to the file as far as readers allow: it comes to nobody's harm, and may do nothing.
    func checkpointSoon() {
        isCheckpointDue.store(true, ordering: .relaxed)
        append(Probe())
    }

    func close() { queue.close() }

    /// Waits, after ``close()``, until the last job is done and the connection closed.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let isReached = end.withLock { end in
                if !end.isReached { end.waiting.append(continuation) }
                return end.isReached
            }
            if isReached { continuation.resume() }
        }
    }

    /// The writer's thread: returns when the queue is closed and empty.
    func run() {
        while true {
            // Nil when nothing came before there was something else to do.
            if let jobs = queue.take(atMost: Self.largestGroup, before: nextDue) {
                guard !jobs.isEmpty else { break }
                commit(jobs)
            } else {
                foldIfDue()
            }
            syncIfDue()
        }
        foldAtEnd()
        syncAtEnd()
        // Closing does that only for the last connection, and a reader that is still there cannot.
        try? current?.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        current = nil
        lock.release()
        let waiting = end.withLock { end in
            defer { end = (true, []) }
            return end.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// A group is bounded so that the first in it does not wait for all the others of a flood.
    private static let largestGroup = 1_024
    private static let closed = SQLiteError(code: SQLITE_MISUSE, doing: "writing to a store that was closed")

    func commit(_ jobs: [any WriteJob]) {
        var isApplying = false
        do throws(SQLiteError) {
            let (connection, writer) = try opened()
            writer.recent.begin()
            try transaction(on: connection) { () throws(SQLiteError) in
                isApplying = true
                for job in jobs { try job.apply(to: writer) }
                try writer.foldDue()
                isApplying = false
                try writer.room.reserve()
                #if PLANTED_BUGS
                    if PlantedBug.answerBeforeCommit.isActive { for job in jobs { job.finish(nil) } }
                #endif
            }
            // Readers are to find what somebody is told of.
            writer.recent.publish()
        } catch {
            current?.writer.recent.discard()
            // A damaged page stands in the way of those who have to go there, and of nobody else.
            if isApplying, error.primaryCode == SQLITE_CORRUPT {
                if current?.writer.recent.goAround() == true { return commit(jobs) }
                writeSingly(jobs, error)
            } else {
                failed(jobs, error)
            }
            return
        }
        failure.withLock { $0 = nil }
        committedGroups.wrappingAdd(1, ordering: .relaxed)
        noteUnsynced()
        noteUnfolded()
        // Before anybody is told: then the file is as small as it was made.
        if isCheckpointDue.exchange(false, ordering: .relaxed) {
            try? current?.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
        #if PLANTED_BUGS
            if PlantedBug.answerBeforeCommit.isActive { return }
        #endif
        for job in jobs { job.finish(nil) }
    }

    func failed(_ jobs: [any WriteJob], _ error: SQLiteError) {
        #if PLANTED_BUGS
            if failedWrongly(jobs, error) { return }
        #endif
        switch error.primaryCode {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_CORRUPT, SQLITE_NOTADB:
            // Of the file, not of one job. A full disk has harmed nothing that was written before.
            if error.primaryCode != SQLITE_FULL {
                current = nil
                let isNew = failure.withLock { failure in
                    defer { failure = Failure(sentence: error.description) }
                    return failure == nil
                }
                if isNew { report("\(error.description); nothing is acknowledged until the log was written back") }
            }
            for job in jobs { job.finish(error) }
            if error.primaryCode == SQLITE_FULL { emptyLog() }
        default: writeSingly(jobs, error)
        }
    }

    /// It may be the log that has filled the disk: what is in it takes less room, or none, in the file.
    private func emptyLog() {
        try? current?.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// One job is at fault: the others are not to suffer from it.
    private func writeSingly(_ jobs: [any WriteJob], _ error: SQLiteError) {
        guard jobs.count > 1 else {
            if error.primaryCode == SQLITE_CORRUPT { report("\(error.description), where pages are damaged") }
            for job in jobs { job.finish(error) }
            return
        }
        for job in jobs { commit([job]) }
    }

    #if PLANTED_BUGS
        private func failedWrongly(_ jobs: [any WriteJob], _ error: SQLiteError) -> Bool {
            let isFull = error.primaryCode == SQLITE_FULL
            var told: SQLiteError? = error
            if PlantedBug.failedCommitAnswered.isActive {
                told = nil
            } else if PlantedBug.fullDiskIsTrouble.isActive, isFull {
                told = SQLiteError(code: SQLITE_IOERR, doing: "writing")
            } else if PlantedBug.alwaysReady.isActive, !isFull {
                current = nil
            } else {
                return false
            }
            for job in jobs { job.finish(told) }
            return true
        }
    #endif

    private func transaction(
        on connection: SQLiteConnection, _ body: () throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try body()
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    func opened() throws(SQLiteError) -> (SQLiteConnection, SessionWriter) {
        if let current { return current }
        let fresh = try open()
        let (connection, _) = fresh
        // The log's frames go into the file itself, which is synced: only then is what was acknowledged before, and
        // what may follow it in the log, as safe as it was said to be.
        guard try connection.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw SQLiteError(code: SQLITE_BUSY, doing: "writing the log to the file after an error")
        }
        current = fresh
        syncDue = nil
        return fresh
    }
}
