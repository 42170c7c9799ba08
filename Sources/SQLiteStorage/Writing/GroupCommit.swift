import CSQLite
import Sessions
import Storage
import Synchronization
import Threads

/// Writes all waiting jobs in one transaction with one sync, however many sessions they belong to. While the disk is
/// busy with one group, the next one gathers.
///
/// After a failed sync the content of the disk is unknown, and a second sync that succeeds proves nothing: the kernel
/// has dropped what it could not write. So the store acknowledges nothing until it has opened the database anew, and
/// copied and synced everything in the log to it.
///
/// With a durability of `interval` this thread also syncs, even when no jobs come.
///
/// `@unchecked Sendable`: only the thread that runs ``run()`` touches what is neither constant nor a lock.
final class GroupCommit: @unchecked Sendable {
    private let queue = WorkQueue<any WriteJob>()
    private let open: @Sendable () throws(SQLiteError) -> (SessionWriter, Checkpoints)
    /// Nil after an error that may have left the file different from what SQLite believes it to be.
    private var current: (writer: SessionWriter, checkpoints: Checkpoints)?
    /// The log that ``current`` writes to.
    private var log: LogFile?
    /// Set for good when somebody has harmed the log: why nothing is acknowledged any more.
    private var logHarm: LogFile.Harm?
    private var isLogSaved = false
    private let durability: Durability
    /// When acknowledged writes have to be on the disk; nil when all of them are, or the policy promises nothing.
    private var syncDue: SuspendingClock.Instant?
    private var moveCheckDue = SuspendingClock.now
    private var isMoveReported = false
    private let report: @Sendable (String) -> Void
    /// Set from an error of the file until the next transaction that succeeds.
    private let failure = Mutex<Failure?>(nil)
    /// What cannot be read or written because of damage, as a sentence.
    private let broken = Mutex<String?>(nil)
    /// When damaged tables and indexes were last looked for, and how many damaged pages were known then.
    private var lastMending: (time: SuspendingClock.Instant, pages: Int)?
    let figures = WriterFigures()
    /// Is told when the disk becomes full, and when it is free again, with the bytes that are free.
    private let disk: @Sendable (_ isFull: Bool, _ free: Int) -> Void
    /// Held until the last job is done, even when the store has gone before.
    private let lock: FileLock
    private let end = Completion()

    private struct Failure {
        let sentence: String
        var isProbed = false
    }

    /// A job that writes nothing: it shows whether a transaction is possible.
    private static var probe: any WriteJob { Write<Void>({ _ in }, then: { _ in }) }

    /// - Parameters:
    ///   - report: is called with a sentence when the file fails.
    ///   - disk: is called when the disk becomes full, and when it is free again.
    ///   - open: opens the database for writing; called here, and again after an error.
    init(
        lock: FileLock, durability: Durability = .commit, report: @escaping @Sendable (String) -> Void = { _ in },
        disk: @escaping @Sendable (_ isFull: Bool, _ free: Int) -> Void = { _, _ in },
        open: @escaping @Sendable () throws(SQLiteError) -> (SessionWriter, Checkpoints)
    ) throws(SQLiteError) {
        self.lock = lock
        self.durability = durability
        self.report = report
        self.disk = disk
        self.open = open
        current = try open()
        // A full disk, or a lock of another program, is seen when something is written.
        do throws(SQLiteError) { try checkEnds() } catch {}
        log = LogFile(lock.logPath)
    }

    /// Why the last transaction failed, or that the file has moved; nil when neither. A full disk does not count:
    /// reading goes on.
    ///
    /// Each call after an error starts a new attempt. Otherwise a server that gets no writes, because it is not ready,
    /// would never become ready.
    var trouble: String? {
        let (sentence, isNew) = failure.withLock { failure -> (String?, Bool) in
            defer { failure?.isProbed = true }
            return (failure?.sentence, failure?.isProbed == false)
        }
        if isNew { append(Self.probe) }
        return sentence ?? broken.withLock(\.self) ?? (lock.hasMoved ? Self.moved : nil)
    }

    private static let moved =
        "The database was moved, replaced or deleted while the server uses it. The server writes to the file that it "
        + "opened; to a deleted file it writes nothing."

    /// How many jobs wait.
    var waiting: Int { queue.count }

    func append(_ job: any WriteJob) {
        guard !queue.append(job) else { return }
        job.finish(SQLiteError(code: SQLITE_MISUSE, doing: "writing to a store that was closed"))
    }

    func close() { queue.close() }

    /// Waits, after ``close()``, until the last job is done and the connection closed.
    func waitForEnd() async { await end.wait() }

    // MARK: The writer's thread

    /// Returns when the queue is closed and empty.
    func run() {
        while true {
            // Nil when another task is due before a job comes.
            if let jobs = queue.take(atMost: Self.largestGroup, before: min(moveCheckDue, syncDue ?? moveCheckDue)) {
                guard !jobs.isEmpty else { break }
                commit(jobs)
                checkpoint { (checkpoints) throws(SQLiteError) in try checkpoints.copySlice() }
            }
            syncIfDue()
            checkMoveIfDue()
        }
        endRun()
        current = nil
        lock.release()
        end.reach()
    }

    /// So that the first job of a flood does not wait for all others.
    private static let largestGroup = 1_024

    private func commit(_ jobs: [any WriteJob]) {
        // The parts that are still to be written, the first of them at the end.
        var parts = [jobs[...]]
        while let part = parts.popLast() {
            do throws(SQLiteError) {
                try writeOrMakeRoom(part)
            } catch  where error.isOfOneJob && part.count > 1 {
                // A damaged page may fail only the jobs that need it. SQLite refuses further writes in a transaction
                // that has met such a page, so the group is halved until those jobs are alone.
                let middle = part.startIndex + part.count / 2
                parts += [part[middle...], part[..<middle]]
            } catch {
                let error = error.isDamage ? writeAroundDamage(part) : error
                guard let error else { continue }
                guard error.isOfOneJob else {
                    return fail(([part] + parts.reversed()).flatMap(\.self), error)
                }
                for job in part { job.finish(error) }
            }
        }
    }

    /// Tries a job again that has met damage: after what can be made anew has been, and without touching former pieces
    /// of documents.
    ///
    /// - Returns: nil when the job is done.
    private func writeAroundDamage(_ job: ArraySlice<any WriteJob>) -> SQLiteError? {
        do throws(SQLiteError) {
            try mend()
            let writer = try opened().writer
            writer.documents.leavesFormer = true
            defer { writer.documents.leavesFormer = false }
            try write(job)
            return nil
        } catch {
            return error
        }
    }

    /// Looks for tables and indexes that are damaged and can be made anew, at most once a minute unless there is a
    /// damaged page that was not known: to look reads all of them.
    private func mend() throws(SQLiteError) {
        let writer = try opened().writer
        writer.noteDamagedPages()
        let pages = writer.damage.damage.pages
        if let lastMending, lastMending.pages == pages, lastMending.time + .seconds(60) > .now { return }
        lastMending = (.now, pages)
        do throws(SQLiteError) {
            for name in try writer.mend() { report(SessionWriter.report(made: name)) }
            lastMending?.pages = writer.damage.damage.pages
        } catch {
            current = nil
            guard error.isDamage else { throw error }
            setBroken(error.description)
        }
        try checkEnds()
    }

    /// Whether sessions can be created.
    private func checkEnds() throws(SQLiteError) {
        if try !opened().writer.checkEnds() { setBroken("no session can be created") }
    }

    private func setBroken(_ reason: String) {
        let sentence = "The database is damaged: \(reason). Stop the server and run concierge store repair."
        let isNew = broken.withLock { broken in
            defer { broken = broken ?? sentence }
            return broken == nil
        }
        if isNew { report(sentence) }
    }

    private func writeOrMakeRoom(_ jobs: ArraySlice<any WriteJob>) throws(SQLiteError) {
        do throws(SQLiteError) {
            try write(jobs)
        } catch  where error.primaryCode == SQLITE_FULL && current?.writer.room.isLow == false {
            // The spare room and the room of the log are for jobs that make room.
            current?.writer.room.releaseSpare()
            if let room = current?.writer.room { tellOfDisk(room) }
            try current?.checkpoints.restartLog(truncates: true)
            try write(jobs)
        }
    }

    /// Applies the jobs in one transaction, and finishes them.
    ///
    /// - Throws: when the transaction failed, or its outcome is unknown. Then no job is finished.
    private func write(_ jobs: ArraySlice<any WriteJob>) throws(SQLiteError) {
        guard !lock.isDeleted else { throw .moved(doing: "writing") }
        try checkLog()
        let (writer, checkpoints) = try opened()
        let start = SuspendingClock.now
        writer.room.checkFreeSpace()
        tellOfDisk(writer.room)
        try transaction(of: writer) { () throws(SQLiteError) in
            for job in jobs { try job.apply(to: writer) }
        }
        if durability != .commit, writer.facts.isCeilingRaised { try writer.connection.syncLog() }
        try writer.connection.markCommit()
        writer.facts.noteCommit()
        failure.withLock { $0 = nil }
        figures.noteGroup(of: jobs.count, took: .now - start)
        noteUnsynced()
        if writer.room.isCheckpointDue {
            writer.room.isCheckpointDue = false
            // Before the jobs are finished, so that their callers find the file as short as they made it.
            do throws(SQLiteError) { try checkpoints.restartLog() } catch { note(error) }
        }
        for job in jobs { job.finish(nil) }
    }

    private func transaction(
        of writer: SessionWriter, _ body: () throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let before = writer.facts.values
        do throws(SQLiteError) {
            try writer.connection.transaction { () throws(SQLiteError) in
                try body()
                try writer.prepareCommit()
            }
        } catch {
            writer.facts.values = before
            throw error
        }
    }

    private func checkpoint(_ body: (Checkpoints) throws(SQLiteError) -> Void) {
        guard let checkpoints = current?.checkpoints else { return }
        do throws(SQLiteError) { try body(checkpoints) } catch { note(error) }
    }

    // MARK: Errors of the file

    /// Fails all jobs of a group: the file cannot be written.
    private func fail(_ jobs: [any WriteJob], _ error: SQLiteError) {
        // A full disk has harmed no earlier write.
        if error.primaryCode == SQLITE_FULL {
            checkpoint { (checkpoints) throws(SQLiteError) in try checkpoints.restartLog(truncates: true) }
        } else {
            note(error)
        }
        for job in jobs { job.finish(error) }
    }

    /// Notes an error of the file, and reports the first one until a transaction succeeds.
    private func note(_ error: SQLiteError) {
        // Another program's lock says nothing about the file.
        let isBusy = error.primaryCode == SQLITE_BUSY
        // The connection still has a log that was deleted.
        if !isBusy, logHarm == nil { current = nil }
        let isNew = failure.withLock { failure in
            defer { failure = Failure(sentence: error.description) }
            return failure == nil
        }
        guard isNew, logHarm == nil else { return }
        report(
            isBusy
                ? "Another program holds a lock on the database, and nothing can be written: \(error.description)"
                : "\(error.description); nothing is acknowledged until the log has been copied to the database")
    }

    private func opened() throws(SQLiteError) -> (writer: SessionWriter, checkpoints: Checkpoints) {
        if let current { return current }
        let fresh = try open()
        // Copies the log to the database and syncs that. Only then are acknowledged commits safe again, and those that
        // follow them in the log.
        guard try fresh.0.connection.emptyLog() else {
            throw SQLiteError(code: SQLITE_BUSY, doing: "copying the log to the database after an error")
        }
        // The former connection knew that the disk is full.
        if figures.isDiskFull { fresh.0.room.releaseSpare() }
        current = fresh
        log = LogFile(lock.logPath)
        syncDue = nil
        return fresh
    }

    /// Reports a disk that has become full, or is free again.
    private func tellOfDisk(_ room: FileRoom) {
        guard room.isLow != figures.isDiskFull else { return }
        figures.isDiskFull = room.isLow
        disk(room.isLow, Int(clamping: room.freeBytes))
    }

    /// Once a second: looks at the disk, and reports files that were moved or deleted.
    private func checkMoveIfDue() {
        guard moveCheckDue <= .now else { return }
        moveCheckDue = .now + .seconds(1)
        if let writer = current?.writer {
            // Also while no writes come.
            writer.room.checkFreeSpace()
            tellOfDisk(writer.room)
            figures.note(logPages: writer.connection.logPages, freePages: (try? writer.connection.freePages) ?? 0)
        }
        // A log that moved with its database is still its log.
        if logHarm == nil, let log, log.hasMoved, !lock.hasMoved, !lock.isDeleted { noteHarm(.moved) }
        do throws(SQLiteError) { try checkLog() } catch { note(error) }
        guard lock.hasMoved, !isMoveReported else { return }
        isMoveReported = true
        report(Self.moved)
    }

    // MARK: The log's file

    /// Called before each group, which would be gone with a log that has no name.
    ///
    /// - Throws: when somebody has deleted the log, replaced it or cut it. Then nothing is acknowledged until the
    ///   server is started again: its readers have the former log open. The log's content is copied to the database.
    private func checkLog() throws(SQLiteError) {
        let frames = current?.writer.connection.logPages ?? 0
        if logHarm == nil, !lock.isDeleted, let harm = log?.harm(frames: frames) { noteHarm(harm) }
        guard let logHarm else { return }
        saveLog()
        throw .log(logHarm, isSaved: isLogSaved)
    }

    private func noteHarm(_ harm: LogFile.Harm) {
        logHarm = harm
        saveLog()
        let sentence = SQLiteError.log(harm, isSaved: isLogSaved).description
        failure.withLock { $0 = Failure(sentence: sentence) }
        report(sentence)
    }

    /// Copies the log to the database, which the database notes: the next start needs no log. Frames that were cut off
    /// cannot be copied, and a reader may delay it.
    private func saveLog() {
        guard !isLogSaved, let checkpoints = current?.checkpoints else { return }
        isLogSaved = (try? checkpoints.restartLog()) ?? false
    }

    // MARK: Syncing after the response

    /// Called after a transaction.
    private func noteUnsynced() {
        guard case .interval(let interval) = durability, syncDue == nil else { return }
        syncDue = .now + interval
    }

    /// Called between two groups, on this thread: no commit comes between a failed sync and its consequences.
    private func syncIfDue() {
        guard case .interval(let interval) = durability else { return }
        if let due = syncDue, due <= .now {
            syncDue = nil
            if let connection = current?.writer.connection {
                do throws(SQLiteError) { try connection.syncLog() } catch { note(error) }
            } else {
                // To open the file anew copies to the database what could not be synced.
                commit([Self.probe])
            }
        }
        // After an error this thread tries again, also without a job.
        if current == nil, syncDue == nil { syncDue = .now + interval }
    }

    /// Syncs everything, whatever the policy, and notes in the file that the run has ended in order.
    private func endRun() {
        guard logHarm == nil else { return saveLog() }
        do throws(SQLiteError) {
            let (writer, checkpoints) = try opened()
            writer.facts[.running] = 0
            try writer.commitFacts()
            try writer.connection.syncLog()
            try checkpoints.restartLog(truncates: true)
        } catch {
            report("\(error.description), when the store was closed")
        }
    }
}
