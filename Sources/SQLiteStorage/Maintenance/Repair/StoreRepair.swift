import CSQLite
import Glibc
import Sessions
import Storage

/// Makes a new database of all that can be read of a damaged one, whose file is only read. No server may use it.
///
/// SQLite cannot read behind a damaged page, so the pages are read without it (``DatabasePages``, ``PageFinder``). A
/// row is copied when it is proven: a session by its own checksum, a large document by the one in its session's row,
/// any other row by those of its pages. Indexes and numbers are made anew. Nothing has to be decrypted.
package struct StoreRepair {
    /// What the new database has.
    package private(set) var sessions = 0
    package private(set) var services = 0
    package private(set) var documents = 0
    package private(set) var tasks = 0
    /// Pages of the damaged one with a flipped bit, which was set right.
    package private(set) var correctedPages = 0
    /// How many sentences say what is missing.
    package private(set) var missing = 0

    /// - Parameters:
    ///   - target: the new file. The store itself is never replaced.
    ///   - keys: name the keys that the new file needs, if the damaged one does not tell them any more.
    ///   - replaces: whether to replace an existing file.
    ///   - tell: gets what is missing, a sentence for each thing.
    /// - Throws: ``StoreOpeningError``, ``StoreDraftError``.
    package init(
        _ path: String, to target: String, keys: DocumentKeys? = nil, replaces: Bool = false,
        tell: @escaping (String) -> Void
    ) throws {
        let source = try DamagedStore(path)
        let draft = try StoreDraft(of: target, from: path, replaces: replaces)
        do {
            let connection = try SQLiteConnection(draft.path, .write)
            // After an interruption a repair begins anew: there is nothing to undo, and one sync at the end is enough.
            try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768")
            try SQLiteSchema.prepare(connection, path: draft.path)
            try connection.execute("BEGIN")
            let rows = try RescuedRows(source.pages, to: connection, path, tell)
            try rows.copyAll()
            let rest = try RescuedStore(rows, connection, keys)
            try rest.finish()
            try connection.execute("COMMIT")
            // The new file has no log, and none that is found beside it belongs to it.
            try connection.write(LogMark(.closed, .none))
            (sessions, services, documents, tasks) = (rest.sessions, rest.services, rest.documents, rest.tasks)
            missing = rows.report.count
        } catch let error as SQLiteError {
            throw StoreDraftError.failed(target, reason: error.description)
        }
        correctedPages = source.pages.corrected.count
        try draft.publish()
    }
}

/// A database whose pages can be read, and which no server uses meanwhile.
private struct DamagedStore {
    let pages: DatabasePages
    private let lock: FileLock
    private let log: OpenFile

    init(_ path: String) throws {
        guard access(path, F_OK) == 0 else { throw StoreOpeningError.missing(path) }
        if let problem = StorePlace(path).problemOfKind { throw problem }
        lock = try FileLock(on: path, makesFile: false, isForReading: true)
        // Only the first transaction of a new file has a journal of that kind.
        guard StoreFile.size(of: path) > 0, StoreFile.size(of: path + "-journal") == 0 else {
            throw StoreOpeningError.unfinished(path)
        }
        log = OpenFile(lock.logPath)
        pages = try DatabasePages(lock.descriptor, log: log.descriptor, of: path)
        guard pages.standing.verdict != .foreign else { throw StoreOpeningError.foreignLog(path) }
        guard let header = pages.header else { return }
        guard header.applicationID == SQLiteSchema.applicationID else { throw StoreOpeningError.foreign(path) }
        try SQLiteSchema.check(version: header.version, path)
    }

    /// A file that is read, and closed with its owner.
    private final class OpenFile {
        /// Negative when there is no such file.
        let descriptor: Int32

        init(_ path: String) { descriptor = open(path, O_RDONLY | O_CLOEXEC) }
        deinit { if descriptor >= 0 { close(descriptor) } }
    }
}

/// Tells and counts what is missing.
final class MissingReport {
    private(set) var count = 0
    private let tell: (String) -> Void

    init(_ tell: @escaping (String) -> Void) { self.tell = tell }

    func add(_ sentence: String) {
        count += 1
        tell(sentence)
    }
}
