/// Numbers about the database as a whole: a row each in the table `facts`. On the writer's thread alone, once it runs.
///
/// What changes is written with the next transaction that is committed.
///
/// `@unchecked Sendable`: handed from the thread that opens the store to the writer's, before that runs.
final class StoreFacts: @unchecked Sendable {
    enum Name: String, CaseIterable {
        /// How many sessions there are.
        case sessions
        /// 1 when the table `flows` has all versions that journeys are on.
        case flowsKnown = "flows_known"
        /// No revision above it was ever given. It is written ahead, so that it holds whatever a power cut takes back.
        case revisionCeiling = "revision_ceiling"
        /// Commits up to this revision may be lost: those that follow in any session that was there get higher ones.
        case revisionFloor = "revision_floor"
        /// How often the floor was raised: a row that was written since is not concerned.
        case epoch
        /// A session that comes from elsewhere, and may have ended here, goes on above this revision.
        case arrivalFloor = "arrival_floor"
        /// While a server has the file: by how many milliseconds the uses in it may be behind; else 0.
        case running
        /// While a server has the file: 1 when answers may come before the sync.
        case answersFirst = "answers_first"
        /// After a run that did not end orderly: uses before `behind_until` may be so many milliseconds behind.
        case behind
        case behindUntil = "behind_until"
        /// 1 in a copy that `store backup` made: what was written since is not in it.
        case restored
        /// The last key that was copied from the tables of an older version.
        case migrated
    }

    private var values = [Int64](repeating: 0, count: Name.allCases.count)
    /// As they are in the file, where a number without a row is 0.
    private var stored = [Int64](repeating: 0, count: Name.allCases.count)
    private var isRead = false
    /// Set when the ceiling was raised: it has to be on the disk before a revision above the old one is shown.
    private(set) var isCeilingRaised = false

    subscript(name: Name) -> Int64 {
        get { values[Self.place(of: name)] }
        set { values[Self.place(of: name)] = newValue }
    }

    /// What the file says; after an error it is only compared with what is known.
    func read(_ connection: SQLiteConnection) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT name, value FROM facts")
        stored = stored.map { _ in 0 }
        while try rows.step() {
            guard let name = Name(rawValue: rows.text(0)) else { continue }
            stored[Self.place(of: name)] = rows.int64(1)
        }
        if !isRead { values = stored }
        isRead = true
    }

    /// A revision that is about to be given.
    func note(revision: UInt64) {
        let revision = Int64(clamping: revision)
        guard revision > self[.revisionCeiling] else { return }
        self[.revisionCeiling] = revision.addingReportingOverflow(Self.stock).partialValue
        isCeilingRaised = true
    }

    /// So many revisions are given before the ceiling is written again.
    static let stock: Int64 = 1 << 20

    // MARK: Transactions

    /// What a transaction that fails goes back to.
    typealias Mark = [Int64]
    var mark: Mark { values }
    func goBack(to mark: Mark) { values = mark }

    /// Within a transaction, before it is committed.
    func write(with statement: SQLiteStatement) throws(SQLiteError) {
        guard stored != values else { return }
        for (place, name) in Name.allCases.enumerated() where stored[place] != values[place] {
            try statement.bind(1, name.rawValue)
            try statement.bind(2, values[place])
            try statement.run()
        }
    }

    func noteCommit() {
        stored = values
        isCeilingRaised = false
    }

    private static let places = Dictionary(uniqueKeysWithValues: zip(Name.allCases, 0...))
    private static func place(of name: Name) -> Int { places[name] ?? 0 }
}
