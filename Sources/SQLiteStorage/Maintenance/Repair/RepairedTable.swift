/// A table of the new file, and how a row of it lies in the old one.
struct RepairedTable {
    struct Column {
        let name: String
        let type: String
        let isOptional: Bool
    }

    let name: String
    let hasRowID: Bool
    /// In the order of a record.
    let columns: [Column]
    /// The column whose value is the row id, and which is NULL in the record.
    let rowID: Int?

    static let schema = RepairedTable(
        name: "sqlite_schema", hasRowID: true,
        columns: ["TEXT", "TEXT", "TEXT", "INTEGER", "TEXT"].map { Column(name: "", type: $0, isOptional: true) },
        rowID: nil)

    /// The tables of a file.
    static func all(_ connection: SQLiteConnection) throws(SQLiteError) -> [RepairedTable] {
        var tables: [RepairedTable] = []
        let names = try connection.prepare(
            "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' "
                + "ORDER BY name = 'sessions' DESC, name")
        while try names.step() {
            let (name, hasRowID) = (names.text(0), names.int64(1) == 0)
            // Without row ids the columns of the primary key come first: <https://www.sqlite.org/withoutrowid.html>.
            let order = hasRowID ? "cid" : "pk = 0, pk, cid"
            let rows = try connection.prepare(
                "SELECT name, type, \"notnull\", pk FROM pragma_table_info('\(name)') ORDER BY \(order)")
            var (columns, rowID) = ([Column](), Int?.none)
            while try rows.step() {
                if hasRowID, rows.int64(3) == 1, rows.text(1) == "INTEGER" { rowID = columns.count }
                columns.append(
                    Column(
                        name: rows.text(0), type: rows.text(1), isOptional: rows.int64(2) == 0 && rows.int64(3) == 0))
            }
            tables.append(RepairedTable(name: name, hasRowID: hasRowID, columns: columns, rowID: rowID))
        }
        return tables
    }

    /// Whether a row of this table can look like that. Which table a tree belongs to is known from that alone when the
    /// schema is damaged.
    func fits(_ record: Record) -> Bool {
        guard record.values.count == columns.count else { return false }
        let isAlike = zip(columns, record.values).enumerated().allSatisfy { place, pair in
            switch pair.1 {
            case .null: pair.0.isOptional || place == rowID
            case .integer: pair.0.type == "INTEGER" && place != rowID
            case .text: pair.0.type == "TEXT"
            case .blob: pair.0.type == "BLOB"
            case .real: pair.0.type == "REAL"
            }
        }
        // The index of users has the same columns, and keys of sessions, which are negative.
        return isAlike && (name != "facts" || record.text(0).map(Self.isFact) ?? false)
    }

    private static func isFact(_ name: String) -> Bool {
        StoreFacts.Name(rawValue: name) != nil || name.hasPrefix("key:")
    }

    /// Binds a row to the parameters of ``insertion``, which are in the order of ``columns``.
    func bind(_ record: Record, key: Int64, to statement: SQLiteStatement) throws(SQLiteError) {
        for (place, value) in record.values.enumerated() {
            let parameter = Int32(place + 1)
            switch value {
            case _ where place == rowID: try statement.bind(parameter, key)
            case .integer(let number): try statement.bind(parameter, number)
            case .text: try statement.bind(parameter, record.text(place))
            case .blob(let range): try statement.bind(parameter, blob: Array(record.bytes[range]))
            case .null, .real: try statement.bind(parameter, nil as String?)
            }
        }
    }

    /// - Parameter replaces: whether a row takes the place of another one with its key.
    func insertion(replaces: Bool) -> String {
        let places = (1...columns.count).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT OR \(replaces ? "REPLACE" : "IGNORE") INTO \(name) "
            + "(\(columns.map(\.name).joined(separator: ", "))) VALUES (\(places))"
    }
}
