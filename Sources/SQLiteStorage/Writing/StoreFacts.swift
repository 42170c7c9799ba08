import Glibc
import Storage
import Synchronization

/// Numbers about the database as a whole: a row each in the table `facts`. For the writer's thread, once that runs.
///
/// The next transaction that is committed writes what has changed.
/// Rows `key:…` of the table are not for it: see ``UsedKeys``.
///
/// `@unchecked Sendable`: the thread that opens the store hands it to the writer's thread before that runs.
final class StoreFacts: @unchecked Sendable {
    enum Name: String, CaseIterable {
        /// How many sessions there are.
        case sessions
        /// How many tasks there are.
        case tasks
        /// The bytes of all sessions (`SessionRecord.writtenBytes`). See ``isDue``.
        case bytes
        /// 1 when `bytes` is known; else a start adds them up.
        case bytesKnown = "bytes_known"
        /// 1 when the table `flows` has all versions that journeys use.
        case flowsKnown = "flows_known"
        /// No revision above it was ever given. It is written in advance, so it holds whatever a power cut takes back.
        case revisionCeiling = "revision_ceiling"
        /// Commits up to this revision may be lost. Later commits of older sessions get higher revisions.
        case revisionFloor = "revision_floor"
        /// How often the floor was raised. The floor does not concern rows that were written since.
        case epoch
        /// A session from elsewhere may have ended here, so it continues above this revision.
        case arrivalFloor = "arrival_floor"
        /// During a run: by how many milliseconds the file may be behind the uses of sessions; else 0.
        case running
        /// During a run: 1 when responses may come before the sync.
        case answersFirst = "answers_first"
        /// Which boot of the machine the last run was in.
        case boot
        /// After a crash: uses before `behind_until` may be later by this many milliseconds.
        case behind
        case behindUntil = "behind_until"
        /// 1 in a copy that `store backup` has made: later writes are not in it.
        case restored
        /// 1 when some tasks, or times of sessions, may be missing: they follow from the journeys.
        case tasksLost = "tasks_lost"
        /// 1 when the index of journeys may not say where they stand. It is told of commits a moment later, so it may
        /// not after a crash.
        case placesLost = "places_lost"
        /// 1 when the file has pages that nothing refers to, or is wrong about which page refers to which. Only when
        /// the file is written anew does it shrink.
        case leaked
    }

    /// By the places of the names.
    var values = [Int64](repeating: 0, count: Name.allCases.count)
    /// The values in the file, where a number without a row is 0.
    private var stored = [Int64](repeating: 0, count: Name.allCases.count)
    private var isRead = false
    private var isWholeDue = false
    /// Whether this transaction raises the ceiling: a higher revision may only be shown when the ceiling is on the
    /// disk.
    private(set) var isCeilingRaised = false
    private var isWritten = false
    /// The committed ``Name/sessions``, for any thread.
    let sessionCount = Atomic<Int>(0)
    /// The committed ``Name/bytes``, for any thread.
    let documentBytes = Atomic<Int>(0)
    /// The committed ``Name/tasksLost``, for any thread.
    let hasLostTasks = Atomic<Bool>(false)
    /// The committed ``Name/placesLost``, for any thread.
    let hasLostPlaces = Atomic<Bool>(false)

    subscript(name: Name) -> Int64 {
        get { values[Self.place(of: name)] }
        set { values[Self.place(of: name)] = newValue }
    }

    /// Reads the file. After an error the file's values only show what has to be written again.
    func read(_ connection: SQLiteConnection) throws(SQLiteError) {
        // Then the table may be unreadable.
        guard !isWholeDue else { return }
        let rows = try connection.prepare("SELECT name, value FROM facts")
        stored = stored.map { _ in 0 }
        while try rows.step() {
            guard let name = Name(rawValue: rows.text(0)) else { continue }
            stored[Self.place(of: name)] = rows.int64(1)
        }
        if !isRead { values = stored }
        isRead = true
        publish()
    }

    private func publish() {
        sessionCount.store(Int(self[.sessions]), ordering: .relaxed)
        documentBytes.store(Int(self[.bytes]), ordering: .relaxed)
        hasLostTasks.store(self[.tasksLost] == 1, ordering: .relaxed)
        hasLostPlaces.store(self[.placesLost] == 1, ordering: .relaxed)
    }

    /// The file has lost the numbers: the next transaction writes all of them.
    func forgetStored() { isWholeDue = true }

    /// Notes a revision that is about to be given.
    func note(revision: UInt64) {
        let revision = Int64(clamping: revision)
        guard revision > self[.revisionCeiling] else { return }
        self[.revisionCeiling] = revision.addingReportingOverflow(Self.stock).partialValue
        isCeilingRaised = true
    }

    /// The number of revisions between two writes of the ceiling.
    static let stock: Int64 = 1 << 20

    /// Called within a transaction, before it is committed.
    func write(with statement: SQLiteStatement) throws(SQLiteError) {
        isWritten = isDue
        guard isWritten else { return }
        for (place, name) in Name.allCases.enumerated() where isWholeDue || stored[place] != values[place] {
            try statement.bind(1, name.rawValue)
            try statement.bind(2, values[place])
            try statement.run()
        }
    }

    func noteCommit() {
        if isWritten {
            stored = values
            isWholeDue = false
        }
        isCeilingRaised = false
        publish()
    }

    /// Whether the file needs the numbers. Nearly every commit changes ``Name/bytes``, and a page more for each would
    /// double what it writes. So they are written with other numbers, or when they have changed by a mebibyte, by which
    /// they may be wrong after a crash.
    private var isDue: Bool {
        if isWholeDue { return true }
        let bytes = Self.place(of: .bytes)
        return stored.indices.contains { place in
            let difference = (values[place] - stored[place]).magnitude
            return place == bytes ? difference >= Self.bytesBetweenWrites : difference > 0
        }
    }

    private static let bytesBetweenWrites = 1 << 20

    private static let places = Dictionary(uniqueKeysWithValues: zip(Name.allCases, 0...))
    private static func place(of name: Name) -> Int { places[name] ?? 0 }
}

/// What the end of the last run left uncertain. Readers apply it to every row that an earlier run wrote.
struct Recovery: Sendable {
    /// Rows of an earlier epoch may be older than the state that clients were shown, by revisions up to the floor.
    let epoch: UInt64
    let revisionFloor: UInt64
    /// A use before this time may be later than the file says, by up to `behind` milliseconds.
    let behindUntil: Int64
    let behind: Int64

    init(_ facts: StoreFacts) {
        epoch = UInt64(facts[.epoch])
        revisionFloor = UInt64(facts[.revisionFloor])
        behindUntil = facts[.behindUntil]
        behind = facts[.behind]
    }

    /// The latest time at which a session may have been used. So no session expires early.
    func lastUse(_ usedAt: Int64) -> Int64 {
        usedAt < behindUntil ? min(usedAt + behind, behindUntil) : usedAt
    }
}

extension StoreFacts {
    /// Begins a run: notes how the last one ended.
    ///
    /// - Parameters:
    ///   - isLogSuspect: whether commits may be missing from the end of SQLite's log.
    ///   - touchInterval: by how many milliseconds the store may be behind the uses of sessions.
    func beginRun(isLogSuspect: Bool, touchInterval: Int64, answersFirst: Bool) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if self[.running] > 0 || self[.restored] == 1 { self[.placesLost] = 1 }
        if self[.running] > 0 {
            self[.behind] = self[.running]
            // Rounded up: no use of the last run may count as earlier than it was.
            self[.behindUntil] = Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000 + 1
        }
        let mayHaveLost = isLogSuspect || mayHaveLostResponses || self[.restored] == 1
        if mayHaveLost { raiseFloor() }
        self[.restored] = 0
        self[.boot] = FileIdentity.boot
        self[.running] = touchInterval + Self.timeToTell
        self[.answersFirst] = answersFirst ? 1 : 0
    }

    /// Before ``beginRun(isLogSuspect:touchInterval:answersFirst:)``: whether the last run sent responses before the
    /// sync and did not end in order.
    var mayHaveLostResponses: Bool { self[.running] > 0 && self[.answersFirst] == 1 }

    /// Before ``beginRun(isLogSuspect:touchInterval:answersFirst:)``: whether this machine runs since before the last
    /// run. Then the page cache has kept everything that the last run wrote, synced or not.
    var isSameBoot: Bool { self[.boot] != 0 && self[.boot] == FileIdentity.boot }

    /// Finds out the numbers as far as they follow from the sessions: the table is damaged.
    func derive(_ connection: SQLiteConnection, _ damage: DamageCount, touchInterval: Int64) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key > ?1 ORDER BY key")
        var highest: UInt64 = 0
        self[.epoch] = 1
        _ = try KeyWalk(rows, after: nil, limit: .max, damage) { (row) throws(SQLiteError) in
            self[.sessions] += 1
            guard let row = SessionRow(row) else { return .damaged }
            highest = max(highest, row.revision, row.details.revisionFloor)
            self[.epoch] = max(self[.epoch], Int64(clamping: row.epoch) + 1)
            return .sound
        }
        // More than the file can have been ahead of its sessions: it is a stock ahead of the highest revision, and one
        // more for each start after a loss, and a session that has ended may have had a higher one.
        let floor = Int64(clamping: highest).addingReportingOverflow(64 * Self.stock).partialValue
        for name in [Name.revisionCeiling, .revisionFloor, .arrivalFloor] { self[name] = floor }
        self[.running] = touchInterval + Self.timeToTell
        do throws(SQLiteError) {
            self[.tasks] = try connection.number("SELECT count(*) FROM tasks NOT INDEXED") ?? 0
        } catch  where error.isDamage {
            // Any number but 0: the table is damaged as well, and made anew when it is used.
            self[.tasks] = 1
        }
        isRead = true
        forgetStored()
    }

    /// In milliseconds: a use reaches the store with the next sweep, in its turn.
    static let timeToTell: Int64 = 5_000

    /// Every later revision is above all that may have been given, whatever was lost.
    func raiseFloor() {
        self[.revisionFloor] = self[.revisionCeiling] + Self.stock
        self[.revisionCeiling] = self[.revisionFloor]
        self[.arrivalFloor] = self[.revisionFloor]
        self[.epoch] += 1
    }
}

/// The keys that something in a database may be sealed with: rows `key:<id>` of the table `facts`, each with the key's
/// fingerprint. A store without one of these keys would take documents for damaged, so it is not opened.
enum UsedKeys {
    /// - Throws: ``StoreOpeningError``, `SQLiteError`.
    static func check(_ connection: SQLiteConnection, _ path: String, against keys: DocumentKeys?) throws {
        let rows = try connection.prepare("SELECT substr(name, 5), value FROM facts WHERE name GLOB 'key:*'")
        while try rows.step() {
            let id = rows.text(0)
            guard let keys else { throw StoreOpeningError.locked(path, key: id, .noKeys) }
            guard let key = keys[id] else { throw StoreOpeningError.locked(path, key: id, .missing) }
            guard key.fingerprint == rows.int64(1) else { throw StoreOpeningError.locked(path, key: id, .other) }
        }
    }

    /// Has to be on the disk before anything that the key has sealed.
    static func note(_ key: DocumentKeys.Key, _ connection: SQLiteConnection) throws(SQLiteError) {
        let write = try connection.prepare("INSERT OR IGNORE INTO facts VALUES (?1, ?2)")
        try write.bind(1, "key:\(key.id)")
        try write.bind(2, key.fingerprint)
        try write.run()
    }

    /// The facts were lost: any of the keys may be needed.
    static func noteAll(of keys: DocumentKeys?, _ connection: SQLiteConnection) throws(SQLiteError) {
        for key in keys?.all ?? [] { try note(key, connection) }
    }

    /// When nothing is sealed with another key any more.
    static func forgetAll(except key: DocumentKeys.Key, _ connection: SQLiteConnection) throws(SQLiteError) {
        let delete = try connection.prepare("DELETE FROM facts WHERE name GLOB 'key:*' AND name <> ?1")
        try delete.bind(1, "key:\(key.id)")
        try delete.run()
    }
}
