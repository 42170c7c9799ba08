/// What a store has come upon since the process started that is not as it was written.
package struct StoreDamage: Sendable, Equatable {
    /// Rows that could not be read, counted whenever one is come upon: they are as if they were not there.
    package var rows = 0
    /// Pages that did not fit their checksums, each counted once: what was on them may be missing.
    package var pages = 0

    package init(rows: Int = 0, pages: Int = 0) {
        self.rows = rows
        self.pages = pages
    }
}
