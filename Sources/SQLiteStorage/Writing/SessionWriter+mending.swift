import Sessions

// What is done when damage has failed a write.
extension SessionWriter {
    /// Makes anew what is damaged of the tables and indexes that can be (``SQLiteSchema/derived``). Reads all of them.
    ///
    /// - Returns: the names of those that were made anew.
    /// - Throws: when one of them cannot be: then the connection must be closed, since it may know other tables than
    ///   the file has.
    func mend() throws(SQLiteError) -> [String] {
        connection.forgetPages()
        var made: [String] = []
        for object in SQLiteSchema.derived where try object.isBroken(in: connection) {
            try remake(object)
            made.append(object.name)
        }
        noteDamagedPages()
        return made
    }

    static func report(made name: String) -> String { "\(name) was damaged, and has been made anew." }

    private func remake(_ object: DerivedObject) throws(SQLiteError) {
        let before = facts.values
        do throws(SQLiteError) {
            try connection.transaction { () throws(SQLiteError) in
                try object.remake(in: connection)
                facts[.leaked] = 1
                switch object.name {
                case "facts":
                    facts.forgetStored()
                    try UsedKeys.noteAll(of: keys, connection)
                // The next start reads all journeys.
                case "flows": facts[.flowsKnown] = 0
                case "tasks":
                    facts[.tasks] = 0
                    facts[.tasksLost] = 1
                // The counts go with the rows.
                case "journeys", "places":
                    try connection.execute("DELETE FROM \(object.name == "places" ? "journeys" : "places")")
                    facts[.placesLost] = 1
                default: break
                }
                try prepareCommit()
            }
        } catch {
            facts.values = before
            throw error
        }
        facts.noteCommit()
    }

    /// Finds out whether sessions and large documents can be added, and undoes it. Large documents go to their rows
    /// from now on if they cannot.
    ///
    /// - Returns: false when no session can be created, because the last page of the table is damaged, or the pages
    ///   that lead to free ones are.
    func checkEnds() throws(SQLiteError) -> Bool {
        if try !canBeUndone("INSERT INTO documents VALUES (1 << 57, zeroblob(20000))") { documents.closeEnd() }
        defer { noteDamagedPages() }
        return try canBeUndone(
            "INSERT INTO sessions (key, revision, used_at, expires_at, large, state) "
                + "VALUES (\(Int64.max), 0, 0, 0, 0, zeroblob(20000))")
    }

    /// False when damage prevents the statement.
    private func canBeUndone(_ sql: String) throws(SQLiteError) -> Bool {
        try connection.execute("BEGIN IMMEDIATE")
        defer { try? connection.execute("ROLLBACK") }
        do throws(SQLiteError) {
            try connection.execute(sql)
            return true
        } catch  where error.isDamage {
            return false
        }
    }

    /// Adds tasks that were lost, unless they are there, and sets the times of their sessions.
    ///
    /// - Returns: false when a session has changed since its tasks were derived from it.
    func restore(_ lost: [RestoredTasks]) throws(SQLiteError) -> Bool {
        var isComplete = true
        for restored in lost {
            guard let row = try storedRow(of: restored.session) else { continue }
            if row.revision == restored.revision {
                try tasks.add(restored.tasks)
                if restored.times != row.times { try write(restored.times, of: restored.session) }
            } else {
                isComplete = false
            }
        }
        return isComplete
    }
}

/// A table or an index that can be made anew: it follows from the sessions, or the server can do without what was in it
/// (``SQLiteSchema/derived``).
struct DerivedObject: Sendable {
    let name: String
    /// Makes it, and the indexes of a table.
    let sql: String
    /// Reads all of its pages.
    let probe: String

    /// - Parameter connection: refuses damaged pages (``SQLiteConnection/refuseDamagedPages(_:)``).
    func isBroken(in connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            _ = try connection.number(probe)
            return false
        } catch  where error.isDamage {
            return true
        }
    }

    /// Makes it anew, empty or as an index of its table. To be called in a transaction that has met no damage: SQLite
    /// refuses further writes in one that has.
    ///
    /// To drop a table or an index, SQLite reads it. So its entry is taken out of the schema instead, and its pages
    /// stay in the file without an owner (``StoreFacts/Name/leaked``).
    func remake(in connection: SQLiteConnection) throws(SQLiteError) {
        try connection.execute(
            """
            PRAGMA writable_schema = ON;
            DELETE FROM sqlite_schema WHERE name = '\(name)' OR tbl_name = '\(name)';
            PRAGMA writable_schema = RESET;
            \(sql)
            """)
    }
}
