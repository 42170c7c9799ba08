import CPageSeals
import CSQLite

/// Checksums of whole pages, see `CPageSeals.h`.
extension SQLiteConnection {
    /// Whether the pages of the file have checksums. A file that was made without has none until it is written anew.
    var hasSeals: Bool {
        get throws(SQLiteError) {
            // Page 1 says so, and may not have been read yet.
            _ = try number("PRAGMA schema_version")
            return cpageseals_has(handle)
        }
    }

    /// From now on a database that has no table yet, and any other when it is written anew, gets them.
    func reserveSeals() throws(SQLiteError) {
        let code = cpageseals_reserve(handle)
        // What is there already has the pages that it has.
        guard code == SQLITE_OK || code == SQLITE_READONLY else { throw error(code, doing: "reserving bytes of pages") }
    }

    /// Seals every page of a copy, however its pages come.
    func expectSeals(pageSize: Int) throws(SQLiteError) {
        let code = cpageseals_expect(handle, UInt32(pageSize))
        guard code == SQLITE_OK else { throw error(code, doing: "sealing pages") }
    }

    /// The pages that did not fit their checksums when they were read since this was last asked.
    func takeDamagedPages() -> [UInt32] {
        var pages: [UInt32] = []
        while true {
            let page = cpageseals_take_damaged(handle)
            guard page != 0 else { return pages }
            pages.append(page)
        }
    }
}
