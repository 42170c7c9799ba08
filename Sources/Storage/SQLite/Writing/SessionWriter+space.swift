import Sessions

/// Pages that nothing is in any more. SQLite keeps them for what comes, so that the file never gets smaller; here those
/// go back to the file system that are more than a store soon needs again.
extension SessionWriter {
    /// Moves at most so many pages from the end of the file into free ones, and cuts the file there.
    func giveBack(atMost limit: Int) throws(SQLiteError) -> SpaceGivenBack {
        let free = try freePages
        guard try isIncremental else { return SpaceGivenBack(given: 0, left: free, isPossible: false) }
        // Without a number, or with 0, it would be all of them.
        if free > 0, limit > 0 { try connection.execute("PRAGMA incremental_vacuum(\(limit))") }
        let left = try freePages
        return SpaceGivenBack(given: free - left, left: left, isPossible: true)
    }

    /// A step of giving back what is too much; nothing most times. A page that was given back is taken again at the
    /// price of a larger file, so some stay: a quarter of what is in use, and not less than a mebibyte.
    func giveBackSurplus() throws(SQLiteError) {
        let free = try freePages
        guard free > Self.leastKept, try isIncremental else { return }
        let used = Int(try connection.number("PRAGMA page_count") ?? 0) - free
        let surplus = free - max(Self.leastKept, used / 4)
        if surplus > 0 { _ = try giveBack(atMost: min(surplus, Self.step)) }
    }

    /// Commits that come meanwhile wait for one step: for a few milliseconds.
    private static let step = 256
    private static let leastKept = 256

    private var freePages: Int {
        get throws(SQLiteError) { Int(try connection.number("PRAGMA freelist_count") ?? 0) }
    }

    private var isIncremental: Bool {
        get throws(SQLiteError) { try connection.number("PRAGMA auto_vacuum") == SQLiteSchema.incrementalVacuum }
    }
}
