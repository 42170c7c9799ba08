import CSQLite

#if PLANTED_BUGS
    import Sessions
#endif

/// Goes through a table in the order of its keys, and steps over pages that cannot be read.
struct KeyWalk {
    /// The last key; nil when nothing is behind it.
    private(set) var last: Int64?
    private(set) var rows = 0
    /// How many times something was stepped over.
    private(set) var skipped = 0

    enum Row {
        case sound
        /// The last one that is wanted.
        case last
        /// Its key may be any.
        case damaged
    }

    /// - Parameters:
    ///   - statement: selects the rows with a key greater than parameter 1, in the order of keys; column 0 is the key.
    ///   - key: nil for the beginning.
    ///   - limit: at most so many rows.
    ///   - body: is given each row.
    init(
        _ statement: SQLiteStatement, after key: Int64?, limit: Int, _ damage: DamageCount,
        _ body: (SQLiteStatement) throws(SQLiteError) -> Row
    ) throws(SQLiteError) {
        var after = key
        // The last key of a damaged row, and how many of these came one after the other.
        var (doubtful, doubts) = (Int64?.none, 0)
        while true {
            do throws(SQLiteError) {
                if let after { try statement.bind(1, after) } else { try statement.bindLowest(1) }
                defer { statement.reset() }
                while true {
                    guard try statement.step() else { return }
                    guard rows < limit else { break }
                    let key = statement.int64(0)
                    // Damage may lead back to where we were.
                    guard after.map({ key > $0 }) ?? true else {
                        throw SQLiteError(code: SQLITE_CORRUPT, doing: "reading in order")
                    }
                    let row = try body(statement)
                    if row == .damaged, doubts < Self.mostDoubts {
                        doubtful = key
                        doubts += 1
                        continue
                    }
                    after = key
                    rows += 1
                    (doubtful, doubts) = (nil, 0)
                    if row == .last { break }
                }
                last = after
                return
            } catch  where error.primaryCode == SQLITE_CORRUPT {
                #if PLANTED_BUGS
                    if PlantedBug.damageEndsPage.isActive { return }
                #endif
                skipped += 1
                let last = doubtful ?? after ?? .min
                let next = Self.readableKey(after: last) { Self.canRead(statement, after: $0) }
                damage.note("Pages of sessions are damaged between the keys \(last) and \(next ?? .max) (\(error)).")
                guard let next else { return }
                after = next
                (doubtful, doubts) = (nil, 0)
            }
        }
    }

    /// More damaged rows one after the other are no matter of one page: then their keys say where to go on.
    private static let mostDoubts = 256

    private static func canRead(_ statement: SQLiteStatement, after key: Int64) -> Bool {
        do {
            try statement.bind(1, key)
            defer { statement.reset() }
            return try !statement.step() || statement.int64(0) > key
        } catch {
            return false
        }
    }

    /// The lowest key found after which rows can be read, behind `key` and the damage that follows it; nil when there is
    /// none. Looks further and further away, and then for the beginning of what can be read there: some 130 looks at most.
    private static func readableKey(after key: Int64, canRead: (_ after: Int64) -> Bool) -> Int64? {
        var (damaged, distance) = (key, UInt64(1))
        while true {
            // Most keys are negative: the last one may be further away than a number with a sign can say.
            var readable = distance < UInt64(bitPattern: .max &- key) ? key &+ Int64(bitPattern: distance) : .max
            if canRead(readable) {
                while UInt64(bitPattern: readable &- damaged) > 1 {
                    let middle = damaged &+ Int64(UInt64(bitPattern: readable &- damaged) / 2)
                    if canRead(middle) { readable = middle } else { damaged = middle }
                }
                return readable
            }
            guard readable < .max else { return nil }
            damaged = readable
            distance = distance > .max / 2 ? .max : distance * 2
        }
    }
}
