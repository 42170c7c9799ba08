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
