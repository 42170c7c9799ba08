import Sessions

/// The columns of the table `tasks`, and the statements that read it. `ready_at` and `over_at` follow from the others,
/// for the indexes.
enum TaskRow {
    static let columns = "session, journey, number, low, name, attempts, created_at, ends_at, attempt, due, claimed"

    /// Reads the current row of a statement that selects ``columns``; nil when it is damaged.
    static func task(_ row: SQLiteStatement) -> StoredTask? {
        let (number, attempts, attempt) = (row.int64(2), row.int64(5), row.int64(8))
        guard number > 0, attempts > 0, attempt >= 0 else { return nil }
        return StoredTask(
            id: TaskID(
                session: SessionID(key: row.int64(0), low: UInt64(bitPattern: row.int64(3))), journey: row.text(1),
                number: UInt64(number)),
            name: row.text(4), attempts: Int(attempts), createdAt: row.int64(6), endsAt: row.int64(7),
            attempt: Int(attempt), due: row.int64(9), isClaimed: row.int64(10) == 1)
    }

    /// Reads the rows of a statement that selects ``columns``, and resets it.
    static func tasks(
        _ rows: SQLiteStatement, limit: Int = .max, where isWanted: (StoredTask) -> Bool = { _ in true }
    ) throws(SQLiteError) -> [StoredTask] {
        defer { rows.reset() }
        var tasks: [StoredTask] = []
        while tasks.count < limit, try rows.step() {
            if let task = task(rows), isWanted(task) { tasks.append(task) }
        }
        return tasks
    }

    /// Binds the parameters 1 to 3, the key of the table.
    static func bind(_ id: TaskID, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(1, id.session.key)
        try statement.bind(2, id.journey)
        try statement.bind(3, Int64(clamping: id.number))
    }
}

/// Reads tasks, for lists and for overdue tasks.
struct TaskReader {
    private let selectOverdue: SQLiteStatement
    private let selectPage: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        selectOverdue = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE over_at <= ?1 ORDER BY over_at LIMIT ?2")
        selectPage = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE (session, journey, number) > (?1, ?2, ?3) "
                + "ORDER BY session, journey, number")
    }

    func overdue(now: Int64, limit: Int) throws(SQLiteError) -> [StoredTask] {
        try selectOverdue.bind(1, now)
        try selectOverdue.bind(2, Int64(limit))
        return try TaskRow.tasks(selectOverdue)
    }

    func page(_ query: TaskQuery) throws(SQLiteError) -> [StoredTask] {
        try selectPage.bind(1, key: query.after?.session.key)
        try selectPage.bind(2, query.after?.journey ?? "")
        try selectPage.bind(3, Int64(clamping: query.after?.number ?? 0))
        return try TaskRow.tasks(selectPage, limit: query.limit, where: query.fits)
    }
}
