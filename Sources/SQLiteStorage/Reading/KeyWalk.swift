import CSQLite
import Storage

/// A walk through a table in the order of its keys, which steps over pages that cannot be read.
struct KeyWalk {
    /// The last key; nil when no row is behind it.
    private(set) var last: Int64?
    private(set) var rows = 0
    /// How many damaged places were stepped over.
    private(set) var skipped = 0

    enum Row {
        case sound
        /// The caller needs no further row.
        case last
        /// Nothing on the row can be trusted, its key included.
        case damaged
    }

    /// - Parameters:
    ///   - statement: selects the rows with a key above parameter 1, in the order of keys. Column 0 is the key.
    ///   - key: where to begin; nil for the first row.
    ///   - limit: the most rows to read.
    ///   - body: is called with each row.
    init(
        _ statement: SQLiteStatement, after key: Int64?, limit: Int, _ damage: DamageCount,
        _ body: (SQLiteStatement) throws(SQLiteError) -> Row
    ) throws(SQLiteError) {
        var after = key
        // The key of the last damaged row, and how many damaged rows came one after another.
        var (doubtful, doubts) = (Int64?.none, 0)
        while true {
            do throws(SQLiteError) {
                try statement.bind(1, key: after)
                defer { statement.reset() }
                while true {
                    guard try statement.step() else { return }
                    guard rows < limit else { break }
                    let key = statement.int64(0)
                    // A damaged page may lead back to an earlier one.
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
            } catch  where error.isDamage {
                skipped += 1
                let last = doubtful ?? after ?? .min
                let next = try Self.readableKey(after: last) { (key) throws(SQLiteError) in
                    try Self.canRead(statement, after: key)
                }
                damage.note(
                    "Pages of sessions are damaged between the keys \(last) and \(next ?? .max) (\(error)).",
                    at: "before the key \(next ?? .max)")
                guard let next else { return }
                after = next
                (doubtful, doubts) = (nil, 0)
            }
        }
    }

    /// More damaged rows in sequence span several pages. Then the walk trusts their keys.
    private static let mostDoubts = 256

    private static func canRead(_ statement: SQLiteStatement, after key: Int64) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            try statement.bind(1, key)
            defer { statement.reset() }
            return try !statement.step() || statement.int64(0) > key
        } catch  where error.isDamage {
            return false
        }
    }

    /// Returns a key above `key` after which rows can be read; nil when there is none. Tries keys at growing distances,
    /// and then searches for the beginning of the readable part: some 130 tries at most.
    private static func readableKey(
        after key: Int64, canRead: (_ after: Int64) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) -> Int64? {
        var (damaged, distance) = (key, UInt64(1))
        while true {
            // Most keys are negative, so the distance to the last one may exceed a signed number.
            var readable = distance < UInt64(bitPattern: .max &- key) ? key &+ Int64(bitPattern: distance) : .max
            if try canRead(readable) {
                while UInt64(bitPattern: readable &- damaged) > 1 {
                    let middle = damaged &+ Int64(UInt64(bitPattern: readable &- damaged) / 2)
                    if try canRead(middle) { readable = middle } else { damaged = middle }
                }
                return readable
            }
            guard readable < .max else { return nil }
            damaged = readable
            distance = distance > .max / 2 ? .max : distance * 2
        }
    }
}
