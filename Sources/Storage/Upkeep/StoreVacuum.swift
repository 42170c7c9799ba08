/// Gives the free pages of a database back that no server has.
package struct StoreVacuum {
    package let given: Int
    package let left: Int
    /// Whether all of it was written anew, which a file that was made without `auto_vacuum`, or
    /// without checksums of pages, needs once.
    package let isRewritten: Bool

    /// - Throws: ``StoreOpeningError``; ``StoreOpeningError/inUse(_:)`` when a server has the file, which is then to be
    ///   asked: it alone writes.
    package init(_ path: String) throws {
        _ = try StoreFile(path, isCurrent: false)
        let lock = try FileLock(on: path, makesFile: false)
        defer { lock.release() }
        do {
            let connection = try SQLiteConnection(path, .write, under: lock)
            let before = try Self.freePages(of: connection)
            let isIncremental = try connection.number("PRAGMA auto_vacuum") == SQLiteSchema.incrementalVacuum
            let isSealed = try connection.hasSeals
            if !isSealed { try connection.reserveSeals() }
            // VACUUM needs room for two copies, one of them in the log, so it is only done where nothing else helps.
            try connection.execute(
                isIncremental && isSealed
                    ? "PRAGMA incremental_vacuum"
                    : "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
            guard try connection.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
                throw StoreOpeningError.unusable(path, reason: "somebody reads it, so that its log cannot be closed")
            }
            isRewritten = !isIncremental || !isSealed
            left = try Self.freePages(of: connection)
            given = before - left
        } catch let error as SQLiteError {
            throw StoreOpeningError.unusable(path, reason: error.description)
        }
    }

    private static func freePages(of connection: SQLiteConnection) throws(SQLiteError) -> Int {
        Int(try connection.number("PRAGMA freelist_count") ?? 0)
    }
}
