/// The values of a row: <https://www.sqlite.org/fileformat2.html#record_format>.
struct Record {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case real
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    let bytes: [UInt8]
    /// Texts and blobs are ranges of the bytes.
    let values: [Value]

    /// Nil when the bytes are not exactly one record.
    ///
    /// - Parameter isCut: whether the end of the record is missing. What is left of its values is as it was.
    init?(_ bytes: [UInt8], isCut: Bool = false) {
        var place = 0
        guard let length = Self.varint(bytes, &place), let end = Int(exactly: length), end <= bytes.count else {
            return nil
        }
        var (values, content) = ([Value](), end)
        while place < end {
            guard let type = Self.varint(bytes, &place), place <= end else { return nil }
            guard var size = Self.size(of: type), size <= bytes.count - content || isCut && type >= 12 else {
                return nil
            }
            size = min(size, bytes.count - content)
            values.append(Self.value(bytes, type, content..<content + size))
            content += size
        }
        guard content == bytes.count else { return nil }
        self.bytes = bytes
        self.values = values
    }

    func integer(_ column: Int) -> Int64? {
        if column < values.count, case .integer(let number) = values[column] { number } else { nil }
    }

    func text(_ column: Int) -> String? {
        if column < values.count, case .text(let range) = values[column] {
            String(decoding: bytes[range], as: UTF8.self)
        } else {
            nil
        }
    }

    func blob(_ column: Int) -> ArraySlice<UInt8>? {
        if column < values.count, case .blob(let range) = values[column] { bytes[range] } else { nil }
    }

    private static func size(of type: UInt64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 10, 11: nil
        default: Int(exactly: (type - 12) / 2)
        }
    }

    private static func value(_ bytes: [UInt8], _ type: UInt64, _ range: Range<Int>) -> Value {
        switch type {
        case 0: .null
        case 8, 9: .integer(Int64(type) - 8)
        case 1...6:
            // The first byte has the sign.
            .integer(
                bytes[range].dropFirst().reduce(Int64(Int8(bitPattern: bytes[range.lowerBound]))) {
                    $0 << 8 | Int64($1)
                })
        case 7: .real
        default: type.isMultiple(of: 2) ? .blob(range) : .text(range)
        }
    }

    /// Reads a number of one to nine bytes: seven bits of each, the highest first, and all eight of the ninth.
    static func varint(_ bytes: [UInt8], _ place: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for count in 1...9 {
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            if count == 9 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}

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
        // A row from before columns were added lacks them.
        guard record.values.count <= columns.count,
            columns.dropFirst(record.values.count).allSatisfy({ $0.isOptional })
        else { return false }
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
        for place in record.values.count..<columns.count { try statement.bind(Int32(place + 1), number: nil) }
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
