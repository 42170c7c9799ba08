import Sessions

extension SessionWriter {
    /// Ends sessions whose time is over. What is not over yet, or in use, is looked at again when it is due.
    func endExpired(_ query: ExpiryQuery) throws(SQLiteError) -> ExpiredSessions {
        let late = try moveUp(query)
        let due = try rows(selectDue, from: query.now, limit: query.limit)
        var count = 0
        for row in due {
            // An id that is none belongs to a damaged row, which nobody can use.
            guard let id = row.id, id.key == row.key else {
                if try end(key: row.key) { count += 1 }
                continue
            }
            let deadline = min(row.usedAt + query.idleTimeout, row.expiresAt) + query.retention
            guard deadline <= query.now, !query.isInUse(id) else {
                try look(at: row.key, again: max(deadline, query.now + 1))
                continue
            }
            if try end(id) { count += 1 }
        }
        return ExpiredSessions(count: count, looked: max(due.count, late))
    }

    /// Brings forward what was to be looked at later than any session can last: it was written when the timeout was longer.
    ///
    /// What is due sooner than that may be late as well, and nobody can tell; so after a timeout was made shorter a session
    /// is still looked at within the new one.
    ///
    /// - Returns: how many.
    private func moveUp(_ query: ExpiryQuery) throws(SQLiteError) -> Int {
        let late = try rows(
            selectDueTooLate, from: Self.rounded(query.now + query.idleTimeout + query.retention), limit: query.limit)
        for row in late {
            // The clock may have been set back.
            let deadline = min(min(row.usedAt, query.now) + query.idleTimeout, row.expiresAt)
            try look(at: row.key, again: deadline)
        }
        return late.count
    }

    /// What an expiry is decided by; columns that a damaged row has as well.
    private struct DueRow {
        let key: Int64
        /// Nil when it is none.
        let id: SessionID?
        let usedAt: Int64
        let expiresAt: Int64
    }

    /// All of them before the first is changed, which would change what the statement goes through.
    private func rows(_ statement: SQLiteStatement, from time: Int64, limit: Int) throws(SQLiteError) -> [DueRow] {
        try statement.bind(1, time)
        try statement.bind(2, Int64(limit))
        defer { statement.reset() }
        var rows: [DueRow] = []
        while try statement.step() {
            rows.append(
                DueRow(
                    key: statement.int64(0), id: SessionID(bytes: statement.bytes(1)), usedAt: statement.int64(2),
                    expiresAt: statement.int64(3)))
        }
        return rows
    }

    private func look(at key: Int64, again time: Int64) throws(SQLiteError) {
        try moveDue.bind(1, key)
        try moveDue.bind(2, Self.rounded(time))
        try moveDue.run()
    }

    /// As ``due(used:timeout:expires:)`` does it.
    private static func rounded(_ time: Int64) -> Int64 { (time + 59_999) / 60_000 * 60_000 }
}
