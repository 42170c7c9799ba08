import Storage

/// Gives the free pages of a database back to the file system. No server may use the database.
package struct StoreVacuum {
    package let given: Int
    package let left: Int
    /// Whether the whole file was rewritten, which a file that was made without `auto_vacuum` or without page checksums
    /// needs once, and one in which something was made anew after damage.
    package let isRewritten: Bool

    /// - Throws: ``StoreOpeningError``; ``StoreOpeningError/inUse(_:)`` when a server uses the file: then only the
    ///   server may write to it, and has to be asked.
    package init(_ path: String) throws {
        let log = try StoreFile(path).log
        let lock = try FileLock(on: path, makesFile: false)
        defer { lock.release() }
        try log.require(path)
        do {
            let connection = try SQLiteConnection(path, .write, under: lock)
            try connection.markOpening()
            let before = try connection.freePages
            let hasLeaked = try connection.hasLeakedPages
            isRewritten = try !connection.isIncremental || !connection.hasPageChecksums || hasLeaked
            if isRewritten {
                try connection.rewrite()
                if hasLeaked { try connection.execute("DELETE FROM facts WHERE name = '\(StoreFacts.Name.leaked)'") }
            } else {
                try connection.execute("PRAGMA incremental_vacuum")
            }
            try connection.emptyLog(of: path)
            left = try connection.freePages
            given = before - left
        } catch let error as SQLiteError {
            throw StoreOpeningError.unusable(path, reason: error.description)
        }
    }
}

extension SQLiteConnection {
    /// Whether the file has pages that nothing refers to any more; see ``StoreFacts/Name/leaked``.
    var hasLeakedPages: Bool {
        get throws(SQLiteError) {
            try number("SELECT value FROM facts WHERE name = '\(StoreFacts.Name.leaked)'") == 1
        }
    }

    /// Writes the whole file anew, without anything that was deleted: so that it can shrink in steps, and with page
    /// checksums. VACUUM needs room for two copies of the file, one of them in the log.
    func rewrite() throws(SQLiteError) {
        try reservePageChecksums()
        try checkLivePages()
        // VACUUM writes over every page, and reads it first: also damaged ones that nothing refers to any more.
        refuseDamagedPages(false)
        defer { refuseDamagedPages() }
        try execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
    }

    /// - Throws: when a page that something refers to is damaged: VACUUM would leave out what it hides, without a word.
    private func checkLivePages() throws(SQLiteError) {
        _ = takeDamagedPages()
        let check = try prepare("PRAGMA integrity_check(1)")
        while try check.step() {}
        guard takeDamagedPages().allSatisfy(isPointerMap) else { throw .damage(doing: "reading all pages") }
    }

    /// Copies the log to the database, and leaves nothing in it.
    func emptyLog(of path: String) throws {
        try lock?.holdIndex()
        guard try emptyLog() else {
            throw StoreOpeningError.unusable(path, reason: "another program reads it, so its log cannot be emptied")
        }
    }
}
