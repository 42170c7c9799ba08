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
        /// 1 when some tasks may be missing, because the table was damaged: they follow from the journeys.
        case tasksLost = "tasks_lost"
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
