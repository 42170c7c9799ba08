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
/// `@unchecked Sendable`: what is not constant or a lock is touched by the one thread that runs ``run()``.
final class GroupCommit: @unchecked Sendable {
    private let queue = WorkQueue<any WriteJob>()
    private let open: @Sendable () throws(SQLiteError) -> (SessionWriter, Checkpoints)
    /// Nil after an error that may have left the file and SQLite's idea of it apart.
    var current: (writer: SessionWriter, checkpoints: Checkpoints)?
    let durability: Durability
    /// When what was answered has to be on the disk; nil when all of it is, or the policy promises nothing.
    var syncDue: SuspendingClock.Instant?
    private var lookDue = SuspendingClock.now
    private var isMoveReported = false
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
        open: @escaping @Sendable () throws(SQLiteError) -> (SessionWriter, Checkpoints)
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

    /// What the last transaction failed for, unless it was a full disk, which is no reason to send readers away; or that
    /// the file is not where it was. Whoever asks has it looked at once more: without that, a server that gets no writes
    /// because it is not ready would stay so.
    var trouble: String? {
        let (sentence, isNew) = failure.withLock { failure -> (String?, Bool) in
            defer { failure?.isProbed = true }
            return (failure?.sentence, failure?.isProbed == false)
        }
        if isNew { append(Probe()) }
        return sentence ?? (lock.hasMoved ? Self.moved : nil)
    }

    private static let moved =
        "The database was moved, replaced or deleted while the server has it. What is written goes into the file that was "
        + "there; to one that was deleted nothing is written."

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

    /// Has the log copied to the database as far as readers allow: it comes to nobody's harm, and may do nothing.
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

    // MARK: The writer's thread

    /// Returns when the queue is closed and empty.
    func run() {
        while true {
            // Nil when nothing came before there was something else to do.
            if let jobs = queue.take(atMost: Self.largestGroup, before: min(lookDue, syncDue ?? lookDue)) {
                guard !jobs.isEmpty else { break }
                commit(jobs)
                checkpoint { (checkpoints) throws(SQLiteError) in try checkpoints.goOn() }
            }
            syncIfDue()
            lookIfDue()
        }
        finishRun()
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
        // The parts that are still to be written, the first of them at the end.
        var parts = [jobs[...]]
        while let part = parts.popLast() {
            do throws(SQLiteError) {
                try writeOrMakeRoom(part)
            } catch  where error.isOfOneJob && part.count > 1 {
                // A damaged page stands in the way of those who have to go there, and of nobody else. They are found by
                // halving: SQLite writes nothing more in a transaction that came to one.
                let middle = part.startIndex + part.count / 2
                parts += [part[middle...], part[..<middle]]
            } catch  where error.isOfOneJob {
                if error.primaryCode == SQLITE_CORRUPT { report("\(error.description), where pages are damaged") }
                for job in part { job.finish(error) }
            } catch {
                fail(([part] + parts.reversed()).flatMap(\.self), error)
                return
            }
        }
    }

    private func writeOrMakeRoom(_ jobs: ArraySlice<any WriteJob>) throws(SQLiteError) {
        do throws(SQLiteError) {
            try write(jobs)
        } catch  where error.primaryCode == SQLITE_FULL && current?.writer.room.isLow == false {
            #if PLANTED_BUGS
                if PlantedBug.fullDiskIsTrouble.isActive { throw error }
            #endif
            // The room to spare, and that of the log, is for those that make room.
            current?.writer.room.giveUpSpare()
            try current?.checkpoints.empty()
            try write(jobs)
        }
    }

    /// Does what is asked in one transaction, and says so.
    ///
    /// - Throws: when nothing has happened, or nobody knows, and nobody was told.
    private func write(_ jobs: ArraySlice<any WriteJob>) throws(SQLiteError) {
        guard !lock.isDeleted else { throw SQLiteError(code: SQLITE_READONLY | 4 << 8, doing: "writing") }
        let writer = try opened().writer
        writer.room.lookForRoom()
        try transaction(of: writer) { () throws(SQLiteError) in
            for job in jobs { try job.apply(to: writer) }
            #if PLANTED_BUGS
                if PlantedBug.answerBeforeCommit.isActive { for job in jobs { job.finish(nil) } }
            #endif
        }
        if durability != .commit, writer.facts.isCeilingRaised { try writer.connection.syncLog() }
        writer.facts.noteCommit()
        failure.withLock { $0 = nil }
        committedGroups.wrappingAdd(1, ordering: .relaxed)
        noteUnsynced()
        // Before anybody is told: then the file is as small as it was made.
        if isCheckpointDue.exchange(false, ordering: .relaxed) {
            checkpoint { (checkpoints) throws(SQLiteError) in try checkpoints.finish() }
        }
        #if PLANTED_BUGS
            if PlantedBug.answerBeforeCommit.isActive { return }
        #endif
        for job in jobs { job.finish(nil) }
    }

    private func transaction(
        of writer: SessionWriter, _ body: () throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let connection = writer.connection
        let mark = writer.facts.mark
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try body()
            try writer.prepareCommit()
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            writer.facts.goBack(to: mark)
            throw error
        }
    }

    /// All of a group fail together: it is the file that cannot be written.
    private func fail(_ jobs: [any WriteJob], _ error: SQLiteError) {
        #if PLANTED_BUGS
            if failedWrongly(jobs, error) { return }
        #endif
        // A full disk has harmed nothing that was written before, and reading goes on.
        if error.primaryCode == SQLITE_FULL {
            checkpoint { (checkpoints) throws(SQLiteError) in try checkpoints.empty() }
        } else {
            note(error)
        }
        for job in jobs { job.finish(error) }
    }

    /// After an error of the file: told once, until a transaction succeeds.
    func note(_ error: SQLiteError) {
        // Somebody else's lock says nothing of the file.
        let isBusy = error.primaryCode == SQLITE_BUSY
        if !isBusy { current = nil }
        let isNew = failure.withLock { failure in
            defer { failure = Failure(sentence: error.description) }
            return failure == nil
        }
        guard isNew else { return }
        report(
            isBusy
                ? "Another program holds a lock on the database, and nothing can be written: \(error.description)"
                : "\(error.description); nothing is acknowledged until the log was written back")
    }

    private func checkpoint(_ body: (Checkpoints) throws(SQLiteError) -> Void) {
        guard let checkpoints = current?.checkpoints else { return }
        do throws(SQLiteError) {
            try body(checkpoints)
        } catch {
            note(error)
        }
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

    /// Once a second: the file may have been taken away.
    private func lookIfDue() {
        guard lookDue <= .now else { return }
        lookDue = .now + .seconds(1)
        guard lock.hasMoved, !isMoveReported else { return }
        isMoveReported = true
        report(Self.moved)
    }

    func opened() throws(SQLiteError) -> (writer: SessionWriter, checkpoints: Checkpoints) {
        if let current { return current }
        let fresh = try open()
        // The log's frames go into the file itself, which is synced: only then is what was acknowledged before, and
        // what may follow it in the log, as safe as it was said to be.
        guard try fresh.0.connection.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw SQLiteError(code: SQLITE_BUSY, doing: "writing the log to the file after an error")
        }
        current = fresh
        syncDue = nil
        return fresh
    }

    /// Everything is on the disk at the end, whatever the policy, and the file says that the run ended orderly.
    private func finishRun() {
        do throws(SQLiteError) {
            let (writer, checkpoints) = try opened()
            let run = writer.facts[.running]
            writer.facts.endRun()
            do throws(SQLiteError) {
                try transaction(of: writer) {}
            } catch  where error.primaryCode == SQLITE_FULL {
                // The next start takes it for one that was not orderly.
                writer.facts[.running] = run
            }
            try writer.connection.syncLog()
            try checkpoints.empty()
        } catch {
            report("\(error.description), when the store was closed")
        }
    }
}

extension SQLiteError {
    /// Whether one statement is at fault, and not the file as a whole.
    fileprivate var isOfOneJob: Bool {
        switch primaryCode {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_NOTADB, SQLITE_BUSY, SQLITE_LOCKED,
            SQLITE_PROTOCOL:
            false
        default: true
        }
    }
}
