import CSQLite
import Sessions
import Storage

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

    static func named(_ name: String) -> DerivedObject? { SQLiteSchema.derived.first { $0.name == name } }
}

/// What a start needs of the tables that can be made anew.
struct DerivedTables {
    let connection: SQLiteConnection
    let keys: DocumentKeys?
    let damage: DamageCount
    let touchInterval: Int64

    /// Whether the facts or the flows are damaged. The rest is made anew when its damage is met.
    var areBroken: Bool {
        get throws(SQLiteError) {
            for name in ["facts", "flows"] {
                if let table = DerivedObject.named(name), try table.isBroken(in: connection) { return true }
            }
            return false
        }
    }

    /// Makes the facts and the flows anew, those of them that are damaged.
    func mend() throws(SQLiteError) {
        if let facts = DerivedObject.named("facts"), try facts.isBroken(in: connection) {
            let values = try self.facts()
            try connection.transaction { () throws(SQLiteError) in
                try facts.remake(in: connection)
                for (name, value) in values where value != 0 { try set(name, to: value) }
                try UsedKeys.noteAll(of: keys, connection)
            }
            damage.report(
                "The table of facts was damaged and has been made anew: entity tags continue above all that may have "
                    + "been given.")
        }
        if let flows = DerivedObject.named("flows"), try flows.isBroken(in: connection) {
            try connection.transaction { () throws(SQLiteError) in
                try flows.remake(in: connection)
                try set(.flowsKnown, to: 0)
                try set(.leaked, to: 1)
            }
            damage.report("The table of flows was damaged and has been made anew: all journeys are read for it.")
        }
    }

    private func set(_ name: StoreFacts.Name, to value: Int64) throws(SQLiteError) {
        try connection.execute("INSERT OR REPLACE INTO facts VALUES ('\(name.rawValue)', \(value))")
    }

    /// The facts, as far as they follow from the sessions.
    private func facts() throws(SQLiteError) -> [StoreFacts.Name: Int64] {
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key > ?1 ORDER BY key")
        var (count, highest, epoch) = (Int64(0), UInt64(0), UInt64(0))
        _ = try KeyWalk(rows, after: nil, limit: .max, damage) { (row) throws(SQLiteError) in
            count += 1
            guard let row = SessionRow(row) else { return .damaged }
            highest = max(highest, row.revision, row.details.revisionFloor)
            epoch = max(epoch, row.epoch)
            return .sound
        }
        // More than the file can have been ahead of its sessions: it is a stock ahead of the highest revision, and one
        // more for each start after a loss, and a session that has ended may have had a higher one.
        let floor = Int64(clamping: highest).addingReportingOverflow(64 * StoreFacts.stock).partialValue
        var tasks = Int64(1)
        do throws(SQLiteError) {
            tasks = try connection.number("SELECT count(*) FROM tasks NOT INDEXED") ?? 0
        } catch  where error.isDamage {
            // Any number but 0: the table is damaged as well, and made anew when it is used.
        }
        return [
            .sessions: count, .tasks: tasks, .revisionCeiling: floor, .revisionFloor: floor, .arrivalFloor: floor,
            .epoch: Int64(clamping: epoch) + 1, .running: touchInterval + StoreFacts.timeToTell, .leaked: 1,
        ]
    }
}
