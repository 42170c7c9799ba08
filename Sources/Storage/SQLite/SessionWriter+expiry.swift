import Sessions

extension SessionWriter {
    /// Ends sessions whose time is over. What is not over yet, or in use, is looked at again when it is due.
    func endExpired(_ query: ExpiryQuery) throws(SQLiteError) -> ExpiredSessions {
        let due = try dueRows(query)
        var ended: [StoredSession] = []
        var count = 0
        for row in due {
            // An id that is none belongs to a damaged row, which nobody can use.
            guard let id = row.id, id.key == row.key else {
                if try end(key: row.key) { count += 1 }
                continue
            }
            let deadline = min(row.usedAt + query.idleTimeout, row.expiresAt)
            guard deadline <= query.now, !query.isInUse(id) else {
                try look(at: row.key, again: max(deadline, query.now + 1))
                continue
            }
            // Read before it is gone: it is told what it had.
            if let session = try reader.current(id) { ended.append(session) }
            if try end(id) { count += 1 }
        }
        return ExpiredSessions(sessions: ended, count: count, looked: due.count)
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
    private func dueRows(_ query: ExpiryQuery) throws(SQLiteError) -> [DueRow] {
        try selectDue.bind(1, query.now)
        try selectDue.bind(2, Int64(query.limit))
        defer { selectDue.reset() }
        var rows: [DueRow] = []
        while try selectDue.step() {
            rows.append(
                DueRow(
                    key: selectDue.int64(0), id: SessionID(bytes: selectDue.bytes(1)), usedAt: selectDue.int64(2),
                    expiresAt: selectDue.int64(3)))
        }
        return rows
    }

    private func look(at key: Int64, again time: Int64) throws(SQLiteError) {
        try moveDue.bind(1, key)
        try moveDue.bind(2, (time + 59_999) / 60_000 * 60_000)
        try moveDue.run()
    }
}
