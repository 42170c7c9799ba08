import CSQLite

/// The purpose of a page in a database.
enum PageKind: Hashable, Sendable, CustomStringConvertible {
    /// A page of a table, an index or `sqlite_schema`: `leaf`, `internal` or `overflow`.
    case tree(String, String)
    /// A page of references to parents (<https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>).
    case map
    case free

    static let size = 4_096

    var description: String {
        switch self {
        case .tree(let name, let type): "\(name) \(type)"
        case .map: "map"
        case .free: "free"
        }
    }

    /// The kinds that every database of these tests has.
    static let expected: Set<PageKind> = [
        .tree("sqlite_schema", "leaf"), .tree("sessions", "internal"), .tree("sessions", "leaf"),
        .tree("documents", "internal"), .tree("documents", "leaf"), .tree("documents", "overflow"),
        .tree("sessions_by_user", "internal"), .tree("sessions_by_user", "leaf"), .tree("facts", "leaf"),
        .tree("flows", "leaf"), .tree("tasks", "leaf"), .tree("tasks_ready", "leaf"), .tree("tasks_over", "leaf"),
        .tree("replays", "leaf"), .tree("replays_by_id", "leaf"), .tree("lone_replays", "leaf"),
        .tree("lone_replays_by_id", "leaf"),
        .map, .free,
    ]

    /// The kinds of all pages in order, as SQLite reports them.
    static func all(of path: String) throws -> [PageKind] {
        var handle: OpaquePointer?
        var rows: OpaquePointer?
        defer {
            sqlite3_finalize(rows)
            sqlite3_close(handle)
        }
        var code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
        func prepare(_ sql: String) {
            sqlite3_finalize(rows)
            rows = nil
            if code == SQLITE_OK { code = sqlite3_prepare_v2(handle, sql, -1, &rows, nil) }
        }
        prepare("PRAGMA page_count")
        guard code == SQLITE_OK, sqlite3_step(rows) == SQLITE_ROW else { throw FileBytes.Failure(code: code) }
        var kinds = [PageKind](repeating: .free, count: Int(sqlite3_column_int64(rows, 0)))
        if kinds.count > 1 { kinds[1] = .map }
        prepare("SELECT pageno, name, pagetype FROM dbstat")
        guard code == SQLITE_OK else { throw FileBytes.Failure(code: code) }
        while sqlite3_step(rows) == SQLITE_ROW {
            guard let name = sqlite3_column_text(rows, 1), let type = sqlite3_column_text(rows, 2) else { continue }
            kinds[Int(sqlite3_column_int64(rows, 0)) - 1] = .tree(String(cString: name), String(cString: type))
        }
        return kinds
    }
}
