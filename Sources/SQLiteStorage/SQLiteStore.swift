import CSQLite
import Glibc
import Sessions
import Storage
import Synchronization
import Threads

/// Sessions in one SQLite database file, which outlive the process.
///
/// A write that returns is on the disk, unless ``Durability`` says otherwise. Commits that wait together are written in
/// one transaction with one sync (``GroupCommit``); a waiting caller is suspended and holds no thread. Reads have
/// threads of their own.
package final class SQLiteStore: FileStore {
    let commits: GroupCommit
    let readers: ReaderPool
    private let writeback: Writeback
    private let damaged: DamageCount
    private let facts: StoreFacts
    private let mostBytes: Int
    let lock: FileLock
    /// Where the search for expired sessions continues.
    private let lastSearched = Mutex<Int64?>(nil)

    /// Opens the database, or makes it.
    ///
    /// - Parameters:
    ///   - path: the database file. SQLite puts `-wal` and `-shm` beside it. Its directory is made if it does not
    ///     exist.
    ///   - services: the names of all services, in the order of the catalogue.
    ///   - touchInterval: by how many milliseconds the store may be behind the uses of sessions; see `SessionSettings`.
    ///   - mostBytes: the limit of ``documentBytes``.
    ///   - cacheBytes: the most memory for pages that were read or written: what is written again is found there.
    ///   - keys: encrypt documents and labels; without them both are stored as they are.
    ///   - report: is called with a sentence for the log about damage and other trouble.
    ///   - disk: is called when the disk becomes full, and when it is free again, with the bytes that are free.
    ///   - warn: the same about what is harmless by now.
    /// - Throws: ``StoreOpeningError``.
    package init(
        path: String, services names: ServiceNames, touchInterval: Int64 = 0, durability: Durability = .commit,
        mostBytes: Int = .max, cacheBytes: Int = leastCacheBytes, keys: DocumentKeys? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in },
        disk: @escaping @Sendable (_ isFull: Bool, _ free: Int) -> Void = { _, _ in },
        warn: (String) -> Void = { _ in }
    ) throws {
        try StorePlace(path).makeDirectory()
        let lock = try FileLock(on: path)
        self.lock = lock
        let damaged = DamageCount(report: report)
        self.damaged = damaged
        let facts = StoreFacts()
        self.facts = facts
        self.mostBytes = mostBytes
        let log = LogStanding(try LogMark(of: lock.descriptor, path), try LogInspection(of: path))
        guard log.verdict != .foreign else { throw StoreOpeningError.foreignLog(path) }
        let copy = log.keepCopy(of: lock.logPath)
        do {
            let first = try Self.opened(path, under: lock, lost: log.lostFrames)
            try lock.holdIndex()
            // The rest is made anew when its damage is met.
            let broken = try SQLiteSchema.derived.filter {
                try ["facts", "flows"].contains($0.name) && $0.isBroken(in: first)
            }
            if broken.contains(where: { $0.name == "facts" }) {
                try facts.derive(first, damaged, touchInterval: touchInterval)
            }
            let writer = try SessionWriter(first, names: names, facts: facts, damage: damaged, keys: keys)
            if !broken.isEmpty {
                try first.markOpening(lost: log.lostFrames)
                for name in try writer.mend() { report(SessionWriter.report(made: name)) }
            }
            try UsedKeys.check(first, path, against: keys)
            try first.markOpening(lost: log.lostFrames)
            if let keys { try UsedKeys.note(keys.first, first) }
            Self.closeToOthers(path, report, warn)
            try writer.countBytes()
            // When responses come before the sync, a power cut may damage more than the last transaction.
            let mayBeTorn = facts.mayHaveLostResponses && log.isLikeAfterPowerCut && !facts.isSameBoot
            facts.beginRun(
                isLogSuspect: log.hasLost(sinceBoot: facts.isSameBoot), touchInterval: touchInterval,
                answersFirst: durability != .commit)
            try writer.commitFacts()
            if let sentence = log.report(copy: copy), !mayBeTorn {
                report(sentence)
            } else if let copy, log.isOfUse {
                unlink(copy)
            }
            try Self.beginLog(first)
            if case .former = log.verdict, let copy {
                warn("The log beside the database was an older one, all of which the database has. It is \(copy) now.")
            }
            let recovery = Recovery(facts)
            let writeback = try Writeback(of: lock)
            self.writeback = writeback
            commits = try GroupCommit(
                lock: lock, durability: durability, report: report, disk: disk,
                open: { () throws(SQLiteError) in
                    // Another file in its place is not ours, and may belong to another server.
                    guard !lock.hasMoved else { throw .moved(doing: "opening \(path)") }
                    let connection = try SQLiteConnection(path, .write, under: lock)
                    let settings =
                        Self.writerSettings + ["PRAGMA cache_size = -\(cacheBytes >> 10)", durability.setting]
                    for setting in settings { try connection.execute(setting) }
                    let writer = try SessionWriter(
                        connection, names: names, facts: facts, damage: damaged, keys: keys, mostBytes: mostBytes)
                    let reader = try SQLiteConnection(path, .read, under: lock)
                    return (writer, try Checkpoints(connection, reader: reader, writeback: writeback))
                })
            readers = try ReaderPool(threads: Self.readerCount) { () throws(SQLiteError) in
                let connection = try SQLiteConnection(path, .read, under: lock)
                try connection.execute(Self.readerCache)
                return try SessionReader(connection, names: names, recovery: recovery, damage: damaged, keys: keys)
            }
            // The last connection to close would copy the whole log, so this one lives until there are others.
            withExtendedLifetime(first) {}
        } catch let error as SQLiteError {
            throw StoreOpeningError(error, path)
        }
        guard DetachedThread.start("store writer", commits.run) else { throw StoreOpeningError.noThread }
    }

    /// Begins with an empty log: so the database itself has what the start has noted.
    private static func beginLog(_ connection: SQLiteConnection) throws(SQLiteError) {
        // Nothing that is acknowledged is only in the log then, and the first commit, of another connection, begins a
        // round with salts of its own: until it is marked any log will do.
        do throws(SQLiteError) {
            var isCopied = try connection.emptyLog()
            if !isCopied { isCopied = try connection.isLogCopied() }
            if isCopied { return try connection.markOpening() }
        } catch  where error.primaryCode == SQLITE_FULL {}
        // A reader of another process prevents it, or a full disk.
        try connection.markCommit()
    }

    /// Other users of this machine must not read sessions. What the group may do is the operator's choice.
    private static func closeToOthers(_ path: String, _ report: (String) -> Void, _ warn: (String) -> Void) {
        let others: mode_t = 0o007
        for file in [path, path + "-wal", path + "-shm"] {
            var facts = stat()
            guard stat(file, &facts) == 0, facts.st_mode & others != 0 else { continue }
            let mode = String(facts.st_mode & 0o777, radix: 8)
            let isClosed = chmod(file, facts.st_mode & 0o770) == 0
            let sentence = "\(file) had mode \(mode), which opens it to every user of this machine. "
            if isClosed {
                warn(sentence + "It is closed to them now.")
            } else {
                report(sentence + "It could not be closed to them; do so yourself.")
            }
        }
    }

    /// Opens the database with the current tables. On a full disk SQLite's index of the log may have no room; then the
    /// database's spare room is released for it.
    ///
    /// - Parameter lost: how many frames the log has lost.
    private static func opened(_ path: String, under lock: FileLock, lost: Int) throws -> SQLiteConnection {
        func open() throws -> SQLiteConnection {
            let connection = try SQLiteConnection(path, .write, under: lock)
            // Before the switch to WAL: so new tables go to the database without a log.
            try SQLiteSchema.prepare(connection, path: path, lost: lost)
            for setting in writerSettings { try connection.execute(setting) }
            try connection.execute("PRAGMA synchronous = FULL")
            return connection
        }
        do {
            return try open()
        } catch is SQLiteError {
            FileRoom.releaseSpare(of: lock.descriptor)
            return try open()
        }
    }

    deinit {
        commits.close()
        readers.close()
    }

    /// Returns when all earlier calls are done and the file is closed. Later calls are refused.
    package func close() async {
        readers.close()
        // The writer's connection is the last one, which removes SQLite's log.
        await readers.waitForEnd()
        commits.close()
        await commits.waitForEnd()
        writeback.close()
    }

    package var sessionCount: Int { facts.sessionCount.load(ordering: .relaxed) }
    package var documentBytes: DocumentBytes? {
        DocumentBytes(stored: facts.documentBytes.load(ordering: .relaxed), allowed: mostBytes)
    }
    package var trouble: String? { commits.trouble }
    package var file: String { lock.identity.text }
    package var damage: StoreDamage { damaged.damage }
    package var hasLostTasks: Bool { facts.hasLostTasks.load(ordering: .relaxed) }
    package var hasLostPlaces: Bool { facts.hasLostPlaces.load(ordering: .relaxed) }

    static let writerSettings = [
        // A property of the file.
        "PRAGMA journal_mode = WAL",
        "PRAGMA journal_size_limit = 67108864",
        // In KiB: enough for the inner pages of tens of millions of sessions, and for the pages being written.
        "PRAGMA cache_size = -\(leastCacheBytes >> 10)",
    ]
    package static let leastCacheBytes = 32 << 20
    /// In KiB, for each reader: enough for the inner pages.
    private static let readerCache = "PRAGMA cache_size = -8192"
    /// A read takes tens of microseconds when the file is in the page cache. More threads help only when it is not.
    private static let readerCount = 2

    // MARK: SessionStore

    package func create(
        _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        write(
            { writer throws(SQLiteError) in
                if let refusal = writer.refusal(of: session.record.writtenBytes) { return refusal }
                return try writer.create(session, telling: notice) ? nil : .conflict
            }, then: done)
    }

    package func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
        try await readers.read { reader throws(SQLiteError) in try reader.session(id) }
    }

    package func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        write(
            { writer throws(SQLiteError) in
                if let refusal = writer.refusal(of: commit.growth) { return refusal }
                return try writer.commit(commit)
            }, then: done)
    }

    package func receive(_ arrival: SessionArrival) async throws(StoreError) {
        let failure = try await write { writer throws(SQLiteError) in
            try writer.receive(arrival)
        }
        if let failure { throw failure }
    }

    package func touch(_ uses: [SessionUse]) async throws(StoreError) {
        try await eachUnlessDamaged(uses) { (uses) throws(StoreError) in
            let isDone = try await write { writer throws(SQLiteError) in
                guard !writer.room.isLow else { return false }
                for use in uses { try writer.touch(use) }
                return true
            }
            guard isDone else { throw .diskIsFull }
        }
    }

    /// Passes all elements to `body`. If some of them are damaged, passes each by itself, and passes over those.
    nonisolated(nonsending) func eachUnlessDamaged<Element: Sendable>(
        _ elements: [Element], _ body: ([Element]) async throws(StoreError) -> Void
    ) async throws(StoreError) {
        guard !elements.isEmpty else { return }
        do {
            return try await body(elements)
        } catch .damaged {
        } catch {
            throw error
        }
        for element in elements {
            do { try await body([element]) } catch .damaged {} catch { throw error }
        }
    }

    package func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool {
        try await write { writer throws(SQLiteError) in try writer.end(id, telling: notice) }
    }

    /// Looks at the next rows in the order of their keys, and starts again after the last.
    package func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        let start = lastSearched.withLock(\.self)
        let overdue = try await readers.read { reader throws(SQLiteError) in try reader.overdue(query, after: start) }
        lastSearched.withLock { $0 = overdue.last }
        var ended = 0
        try await eachUnlessDamaged(overdue.sessions) { (sessions) throws(StoreError) in
            ended += try await write { writer throws(SQLiteError) in
                var ended = 0
                for (key, usedAt) in sessions where try writer.endOverdue(key: key, usedAt: usedAt) { ended += 1 }
                return ended
            }
        }
        // Each by itself, so that damage there keeps no session from ending.
        _ = try? await write { writer throws(SQLiteError) in try writer.giveBackSurplus() }
        _ = try? await write { writer throws(SQLiteError) in try writer.replays.removeEnded(now: query.now) }
        return ExpiredSessions(count: ended, looked: overdue.looked, candidates: overdue.candidates, kept: overdue.kept)
    }

    package func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession] {
        try await readDerived { reader throws(SQLiteError) in try reader.due(now: now, limit: limit) }
    }

    package func putOff(_ due: DueSession, to time: Int64) async throws(StoreError) {
        try await write { writer throws(SQLiteError) in try writer.putOff(due, to: time) }
    }

    package func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims {
        let claims = try await write { writer throws(SQLiteError) in
            try writer.room.isLow ? nil : writer.tasks.claim(claim)
        }
        guard let claims else { throw .diskIsFull }
        return claims
    }

    package func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask? {
        try await write { writer throws(SQLiteError) in try writer.tasks.update(id, update) }
    }

    package func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask] {
        try await readDerived { reader throws(SQLiteError) in try reader.tasks.overdue(now: now, limit: limit) }
    }

    package func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask] {
        try await readDerived { reader throws(SQLiteError) in try reader.tasks.page(query) }
    }

    package func restoreTasks(_ lost: [RestoredTasks], areAll: Bool) async throws(StoreError) -> Bool {
        var isComplete = true
        try await eachUnlessDamaged(lost) { (lost) throws(StoreError) in
            let areRestored = try await write { writer throws(SQLiteError) in try writer.restore(lost) }
            if !areRestored { isComplete = false }
        }
        if areAll, isComplete { try await write { writer throws(SQLiteError) in writer.facts[.tasksLost] = 0 } }
        return isComplete
    }

    package func giveBackSpace(atMost pages: Int) async throws(StoreError) -> SpaceGivenBack {
        try await write { writer throws(SQLiteError) in try writer.giveBack(atMost: pages) }
    }

    package func usedFlows() async throws(StoreError) -> [UsedFlow]? {
        try await readDerived { reader throws(SQLiteError) in try reader.usedFlows() }
    }

    package func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError) {
        try await write { writer throws(SQLiteError) in try writer.replaceUsedFlows(flows) }
    }

    package func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        try await readDerived { reader throws(SQLiteError) in try reader.sessions(ofUser: userID).readable }
    }

    package func damagedSessions(ofUser userID: String) async throws(StoreError) -> [SessionID] {
        try await readDerived { reader throws(SQLiteError) in try reader.damagedSessions(ofUser: userID) }
    }

    /// Reads what can be made anew. If it is damaged, the writer makes it anew, and it is read again.
    nonisolated(nonsending) func readDerived<Value: Sendable>(
        _ body: @escaping @Sendable (SessionReader) throws(SQLiteError) -> Value
    ) async throws(StoreError) -> Value {
        let read: @Sendable (SessionReader) throws(SQLiteError) -> Value = { reader throws(SQLiteError) in
            try reader.strictly { () throws(SQLiteError) in try body(reader) }
        }
        do {
            return try await readers.read(read)
        } catch .damaged {
        } catch {
            throw error
        }
        // A job that meets damage makes the writer look for what can be made anew.
        _ = try? await write { _ throws(SQLiteError) in throw SQLiteError.damage(doing: "reading a table") }
        return try await readers.read(read)
    }

    package func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        try await readers.read { reader throws(SQLiteError) in try reader.page(after: id, limit: limit) }
    }

    /// - Parameter body: its result is why this write cannot be done, while others of its group can.
    private func write(
        _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> StoreError?,
        then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        write(body) { (result: Result<StoreError?, StoreError>) in
            switch result {
            case .success(let failure): done(failure)
            case .failure(let error): done(error)
            }
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Value,
        then done: @escaping @Sendable (Result<Value, StoreError>) -> Void
    ) {
        commits.append(Write(body, then: done))
    }

    nonisolated(nonsending) func write<Value: Sendable>(
        _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = await withUnsafeContinuation { waiting in
            commits.append(Write(body) { waiting.resume(returning: $0) })
        }
        return try outcome.get()
    }
}

extension StoreError {
    static let diskIsFull = StoreError.full("The disk is full.")
}
