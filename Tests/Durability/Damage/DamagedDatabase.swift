import CSQLite
import SQLiteStorage
import Sessions
import Storage
import Support
import Testing

/// A damaged database. A store opens it, reads it, writes to it and opens it again; all results are compared with the
/// model.
struct DamagedDatabase {
    private var files: StoredFiles
    private let context: Comment
    /// The last commit of each session that has not ended.
    private var expected: [SessionID: StoredFiles.Commit]
    private let reports = Reports()
    private var isRefused = false

    /// Whether the store has reported any damage, in either run.
    var isToldOf: Bool { isRefused || !reports.all.isEmpty }

    /// Whether the sessions are read before the first write, which else finds the damage.
    private let isReadFirst: Bool

    init(_ files: StoredFiles, _ context: Comment, isReadFirst: Bool = true) {
        self.files = files
        self.isReadFirst = isReadFirst
        self.context = context
        expected = files.states(after: files.commits.count)
    }

    mutating func check() async throws {
        let files = files
        try await files.withStored { path, _ in
            guard let store = open(path) else { return }
            if isReadFirst {
                await write(to: store, await look(at: store).map(\.record.id))
            } else {
                await write(to: store, Array(expected.keys))
            }
            await store.close()
            guard let again = open(path) else { return }
            _ = await look(at: again)
            await again.close()
        }
    }

    /// Nil when the store refuses to open the file, and says why.
    private mutating func open(_ path: String) -> SQLiteStore? {
        do {
            return try StoredFiles.open(path, report: reports.add)
        } catch {
            isRefused = true
            let sentence = (error as? StoreOpeningError)?.description ?? ""
            #expect(sentence.hasSuffix("."), context)
            return nil
        }
    }

    /// Reads the sessions in all ways.
    ///
    /// - Returns: the sessions that are whole.
    private mutating func look(at store: SQLiteStore) async -> [StoredSession] {
        var whole: [StoredSession] = []
        var isComplete = true
        func check(_ session: StoredSession) -> Bool {
            guard let commit = expected[session.record.id], files.isRight(session, after: commit) else {
                Issue.record("\(session.record.id) differs from what was written: \(context)")
                return false
            }
            return files.isWhole(session, after: commit)
        }
        do {
            // All pages of sessions, each session once.
            var (last, seen, rounds) = (SessionID?.none, Set<SessionID>(), 0)
            repeat {
                let page = try await store.page(after: last, limit: 20)
                for session in page.sessions {
                    if !check(session) { isComplete = false }
                    #expect(seen.insert(session.record.id).inserted, context)
                }
                last = page.next
                rounds += 1
            } while last != nil && rounds < 200
            #expect(last == nil, "it has no end: \(context)")
            if seen.count < expected.count { isComplete = false }
            for id in expected.keys {
                do {
                    guard let session = try await store.load(id) else {
                        Issue.record("\(id) is hidden, and not said to be damaged: \(context)")
                        continue
                    }
                    if check(session) { whole.append(session) } else { isComplete = false }
                } catch StoreError.damaged {
                    isComplete = false
                }
            }
            // Damage concerns the sessions of its page, up to 40: a row takes at least 100 of its 4,096 bytes. A walk may
            // miss no sound sessions beyond that page.
            #expect(whole.count - seen.count <= 40, "pages end early: \(context)")
            for user in StoredFiles.users {
                let found = try await store.sessions(ofUser: user)
                // Without their documents.
                for record in found.map(\.record)
                where record.userID != user || record.revision != expected[record.id]?.revision { isComplete = false }
                let count = expected.values.count { StoredFiles.user(ofSession: $0.session) == user }
                if found.count != count { isComplete = false }
            }
            let flows = try await store.usedFlows()
            if flows.map({ Set($0) }) != Set(StoredFiles.flows) { isComplete = false }
        } catch {
            // The caller gets the error.
            isRefused = true
        }
        #expect(isComplete || isToldOf, "something is missing without a word: \(context)")
        return whole
    }

    /// Commits to sessions and ends some: acknowledged writes must show afterwards.
    private mutating func write(to store: SQLiteStore, _ shown: [SessionID]) async {
        var refused = 0
        let some = shown.sorted().enumerated().filter { $0.offset.isMultiple(of: 4) }
        for (number, id) in some {
            guard let before = expected[id] else { continue }
            do throws(StoreError) {
                if number.isMultiple(of: 3) {
                    if try await store.end(id) { expected[id] = nil }
                    let left = try await store.load(id)
                    #expect(left == nil, context)
                } else {
                    try await store.commit(files.goOn(before.session, from: before.revision + 1))
                    expected[id] = files.commits.last
                }
            } catch {
                refused += 1
            }
        }
        // All writes to the sessions of a page may be refused, or all that need a new page for a large document: these
        // are about a third.
        // Below an inner page nothing is written, and the server says that it is not ready if that is the last one.
        guard isReadFirst, store.trouble == nil, shown.count * 5 > files.sessions.count * 4 else { return }
        #expect(refused * 4 <= some.count * 3, context)
    }
}

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
        .tree("sessions_by_user", "internal"), .tree("sessions_by_user", "leaf"), .tree("sessions_due", "leaf"),
        .tree("facts", "leaf"),
        .tree("flows", "leaf"), .tree("tasks", "leaf"), .tree("tasks_ready", "leaf"), .tree("tasks_over", "leaf"),
        .tree("tasks_by_user", "leaf"), .tree("journeys", "leaf"), .tree("journeys_at", "leaf"),
        .tree("places", "leaf"),
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
