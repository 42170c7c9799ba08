import CSQLite
import Sessions

/// Reads single rows of the log of recent writes, within a transaction that somebody else has begun.
struct RecentRows {
    private let connection: SQLiteConnection
    private let selects: [SQLiteStatement]
    private let report: @Sendable (String) -> Void

    enum Found {
        case row(ServiceRow)
        /// It was reported.
        case damaged
        case absent
    }

    init(
        _ connection: SQLiteConnection, report: @escaping @Sendable (String) -> Void
    ) throws(SQLiteError) {
        self.connection = connection
        self.report = report
        var selects: [SQLiteStatement] = []
        for table in RecentTable.allCases {
            selects.append(
                try connection.prepare(
                    "SELECT \(ServiceRow.columns) FROM \(table.name) WHERE seq = ?1 AND session = ?2"))
        }
        self.selects = selects
    }

    func read(_ row: RecentSession.Row, of session: SessionID) throws(SQLiteError) -> Found {
        let select = selects[row.table.place]
        try select.bind(1, row.sequence)
        try select.bind(2, session.key)
        defer { select.reset() }
        guard try select.step() else { return .absent }
        if let found = ServiceRow(select, of: session) { return .row(found) }
        report("A recent write to \(session) is damaged; it is as if it had not been.")
        return .damaged
    }
}
