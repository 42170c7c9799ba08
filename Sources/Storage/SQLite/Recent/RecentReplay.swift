import CSQLite
import Sessions

/// What the log of recent writes has when a file is opened: read once, from its beginning to its end.
struct RecentReplay {
    private(set) var sessions: [Int64: RecentSession] = [:]
    private(set) var lastSequence: Int64 = 0
    /// Of both tables.
    private(set) var bytes = 0
    /// The sessions that a damaged row may be of: its number and its id each name one, and one bit spoils only one.
    private(set) var damaged: Set<Int64> = []
    /// Whether there is a row, or a page, that could not be read.
    private(set) var isDamaged = false
    private var counts = [0, 0]
    private var lasts: [Int64] = [0, 0]
    /// Numbers for services that are not declared, from the end.
    private var strangers: [String: UInt16] = [:]

    init(
        _ connection: SQLiteConnection, _ names: ServiceNames, report: (String) -> Void
    ) throws(SQLiteError) {
        for table in RecentTable.allCases {
            do throws(SQLiteError) {
                try read(table, connection, names, report)
            } catch  where error.primaryCode == SQLITE_CORRUPT {
                isDamaged = true
                report("\(error.description), so that recent writes may be missing")
            }
        }
        lastSequence = lasts.max() ?? 0
    }

    /// The table with the newest row.
    var gathering: RecentTable { lasts[0] >= lasts[1] ? .even : .odd }

    func count(of table: RecentTable) -> Int { counts[table.place] }

    private mutating func read(
        _ table: RecentTable, _ connection: SQLiteConnection, _ names: ServiceNames, _ report: (String) -> Void
    ) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT \(RecentTable.columns) FROM \(table.name) ORDER BY seq")
        while try rows.step() {
            let (key, sequence) = (rows.int64(7), rows.int64(9))
            counts[table.place] += 1
            lasts[table.place] = max(lasts[table.place], sequence)
            let id = SessionID(bytes: rows.bytes(8))
            guard let id, id.key == key, let row = ServiceRow(rows, of: id) else {
                isDamaged = true
                damaged.insert(key)
                if let id { damaged.insert(id.key) }
                report("A recent write is damaged (row \(sequence)); it is as if it had not been.")
                continue
            }
            bytes += row.document.count
            #if PLANTED_BUGS
                if PlantedBug.recentForgotten.isActive { continue }
            #endif
            let service = names[row.name] ?? number(ofStranger: row.name)
            sessions[key, default: RecentSession(id, isSure: false)].add(
                RecentSession.Row(sequence: sequence, service: service, table: table), revision: row.revision)
        }
    }

    private mutating func number(ofStranger name: String) -> UInt16 {
        if let number = strangers[name] { return number }
        let number = UInt16.max - UInt16(clamping: strangers.count)
        strangers[name] = number
        return number
    }
}
