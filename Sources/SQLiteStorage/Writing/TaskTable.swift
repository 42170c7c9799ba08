import Sessions

/// Writes the table `tasks`, in the transaction of the session that a task belongs to. For the writer's thread.
final class TaskTable {
    private let connection: SQLiteConnection
    private let facts: StoreFacts
    private let write: SQLiteStatement
    private let insert: SQLiteStatement
    private let delete: SQLiteStatement
    private let deleteOfSession: SQLiteStatement
    private let select: SQLiteStatement
    private let selectReady: SQLiteStatement
    private let selectNext: SQLiteStatement

    init(_ connection: SQLiteConnection, facts: StoreFacts) throws(SQLiteError) {
        self.connection = connection
        self.facts = facts
        let values =
            "INTO tasks (\(TaskRow.columns), ready_at, over_at) "
            + "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
        write = try connection.prepare("REPLACE \(values)")
        insert = try connection.prepare("INSERT OR IGNORE \(values)")
        delete = try connection.prepare("DELETE FROM tasks WHERE session = ?1 AND journey = ?2 AND number = ?3")
        deleteOfSession = try connection.prepare("DELETE FROM tasks WHERE session = ?1 AND notice IS NULL")
        select = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE session = ?1 AND journey = ?2 AND number = ?3")
        selectReady = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE name = ?1 AND ready_at <= ?2 "
                + "ORDER BY ready_at LIMIT ?3")
        selectNext = try connection.prepare("SELECT min(ready_at) FROM tasks WHERE name = ?1 AND ready_at > ?2")
    }

    func apply(_ changes: [TaskChange]) throws(SQLiteError) {
        for change in changes {
            switch change {
            case .begun(let task):
                try put(task)
                facts[.tasks] += 1
            case .ended(let id): try remove(id)
            }
        }
    }

    /// Adds tasks that are not there.
    func add(_ tasks: [StoredTask]) throws(SQLiteError) {
        for task in tasks {
            try put(task, with: insert)
            facts[.tasks] += Int64(connection.changes)
        }
    }

    /// All but notices.
    func removeAll(of session: SessionID) throws(SQLiteError) {
        // Most databases have none, and then this costs nothing.
        guard facts[.tasks] > 0 else { return }
        try deleteOfSession.bind(1, session.key)
        try deleteOfSession.run()
        facts[.tasks] -= Int64(connection.changes)
    }

    func claim(_ claim: TaskClaim) throws(SQLiteError) -> TaskClaims {
        guard facts[.tasks] > 0 else { return TaskClaims(tasks: [], nextDue: nil) }
        try selectReady.bind(1, claim.name)
        try selectReady.bind(2, claim.now)
        try selectReady.bind(3, Int64(claim.limit))
        var tasks = try TaskRow.tasks(selectReady)
        for place in tasks.indices {
            tasks[place].claim(until: claim.end)
            try put(tasks[place])
        }
        try selectNext.bind(1, claim.name)
        try selectNext.bind(2, claim.now)
        defer { selectNext.reset() }
        let hasNext = try selectNext.step() && !selectNext.isNull(0) && selectNext.int64(0) < .max
        return TaskClaims(tasks: tasks, nextDue: hasNext ? selectNext.int64(0) : nil)
    }

    func update(_ id: TaskID, _ update: TaskUpdate) throws(SQLiteError) -> StoredTask? {
        try TaskRow.bind(id, to: select)
        guard var task = try TaskRow.tasks(select).first else { return nil }
        let former = task
        task.apply(update)
        if case .look = update { return former }
        if case .remove = update { try remove(id) } else { try put(task) }
        return task
    }

    private func remove(_ id: TaskID) throws(SQLiteError) {
        try TaskRow.bind(id, to: delete)
        try delete.run()
        facts[.tasks] -= Int64(connection.changes)
    }

    private func put(_ task: StoredTask) throws(SQLiteError) { try put(task, with: write) }

    private func put(_ task: StoredTask, with write: SQLiteStatement) throws(SQLiteError) {
        try TaskRow.bind(task.id, to: write)
        try write.bind(4, Int64(bitPattern: task.id.session.low))
        try write.bind(5, task.name)
        try write.bind(6, Int64(task.attempts))
        try write.bind(7, task.createdAt)
        try write.bind(8, task.notice?.endsAt ?? 0)
        try write.bind(9, Int64(task.attempt))
        try write.bind(10, task.due)
        try write.bind(11, task.isClaimed ? 1 : 0)
        try write.bind(12, task.isKept ? 1 : 0)
        try write.bind(13, task.notice?.text)
        try write.bind(14, task.userID)
        try write.bind(15, task.readyAt)
        try write.bind(16, task.overAt)
        try write.run()
    }
}

/// The columns of the table `tasks`, and the statements that read it. `ready_at` and `over_at` follow from the others,
/// for the indexes.
enum TaskRow {
    static let columns =
        "session, journey, number, low, name, attempts, created_at, ends_at, attempt, due, claimed, kept, "
        + "notice, user_id"

    /// Reads the current row of a statement that selects ``columns``; nil when it is damaged.
    static func task(_ row: SQLiteStatement) -> StoredTask? {
        let (number, attempts, attempt) = (row.int64(2), row.int64(5), row.int64(8))
        guard number > 0, attempts > 0, attempt >= 0 else { return nil }
        return StoredTask(
            id: TaskID(
                session: SessionID(key: row.int64(0), low: UInt64(bitPattern: row.int64(3))), journey: row.text(1),
                number: UInt64(number)),
            name: row.text(4), attempts: Int(attempts), createdAt: row.int64(6), attempt: Int(attempt),
            due: row.int64(9), isClaimed: row.int64(10) == 1, isKept: row.int64(11) == 1,
            notice: row.isNull(12) ? nil : SessionNotice(text: row.text(12), endsAt: row.int64(7)),
            userID: row.isNull(13) ? nil : row.text(13))
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
    private let selectOfSession: SQLiteStatement
    private let selectOfUser: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        selectOverdue = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE over_at <= ?1 ORDER BY over_at LIMIT ?2")
        selectPage = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE (session, journey, number) > (?1, ?2, ?3) "
                + "ORDER BY session, journey, number")
        selectOfSession = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE session = ?1 AND (journey, number) > (?2, ?3) "
                + "ORDER BY journey, number")
        selectOfUser = try connection.prepare(
            "SELECT \(TaskRow.columns) FROM tasks WHERE user_id = ?4 AND (session, journey, number) > (?1, ?2, ?3) "
                + "ORDER BY session, journey, number")
    }

    func overdue(now: Int64, limit: Int) throws(SQLiteError) -> [StoredTask] {
        try selectOverdue.bind(1, now)
        try selectOverdue.bind(2, Int64(limit))
        return try TaskRow.tasks(selectOverdue)
    }

    func page(_ query: TaskQuery) throws(SQLiteError) -> [StoredTask] {
        let start = query.start
        let select = query.session != nil ? selectOfSession : query.user != nil ? selectOfUser : selectPage
        try select.bind(1, key: start?.session.key)
        try select.bind(2, start?.journey ?? "")
        try select.bind(3, Int64(clamping: start?.number ?? 0))
        if query.session == nil, let user = query.user { try select.bind(4, user) }
        return try TaskRow.tasks(select, limit: query.limit, where: query.fits)
    }
}
