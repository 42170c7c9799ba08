import Glibc
import Sessions
import Storage
import Testing
import Threads

@testable import SQLiteStorage

/// A database in a folder of its own, which is removed with this object.
final class SQLiteFile: Sendable {
    let folder: String
    var path: String { folder + "/sessions.db" }

    init() throws {
        var template = Array("/tmp/concierge-store-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw NoFolder(code: errno) }
        folder = String(cString: made)
    }

    deinit {
        for ending in ["", "-wal", "-shm", "-journal"] { unlink(path + ending) }
        rmdir(folder)
    }

    func store(
        services: [String] = ["profile", "quote"], touchInterval: Int64 = 0, durability: Durability = .commit,
        mostBytes: Int = .max, keys: DocumentKeys? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> SQLiteStore {
        try SQLiteStore(
            path: path, services: ServiceNames(services), touchInterval: touchInterval, durability: durability,
            mostBytes: mostBytes, keys: keys, report: report)
    }

    /// The tables as another program makes them, without our settings.
    static let plainTables = """
        \(SQLiteSchema.tables)
        PRAGMA application_id = \(SQLiteSchema.applicationID); PRAGMA user_version = \(SQLiteSchema.version);
        """

    /// The number of pages. The file is longer: it has spare room.
    var pages: Int {
        get throws { Int(try SQLiteConnection(path, .read).number("PRAGMA page_count") ?? 0) }
    }

    /// Starts a writer, as a store does.
    func writer(
        durability: Durability = .commit, settings: [String] = [],
        report: @escaping @Sendable (String) -> Void = { _ in }, opened: @escaping @Sendable () -> Void = {}
    ) throws -> GroupCommit {
        try SQLiteSchema.prepare(try SQLiteConnection(path, .write), path: path)
        let (lock, facts) = (try FileLock(on: path), StoreFacts())
        let writeback = try Writeback(of: lock)
        let commits = try GroupCommit(lock: lock, durability: durability, report: report) {
            [path] () throws(SQLiteError) in
            opened()
            let connection = try SQLiteConnection(path, .write, under: lock)
            for setting in SQLiteStore.writerSettings + [durability.setting] + settings {
                try connection.execute(setting)
            }
            let writer = try SessionWriter(
                connection, names: ServiceNames(["profile"]), facts: facts, damage: DamageCount(report: report))
            let reader = try SQLiteConnection(path, .read, under: lock)
            return (writer, try Checkpoints(connection, reader: reader, writeback: writeback))
        }
        try #require(DetachedThread.start("store writer", commits.run))
        return commits
    }

    struct NoFolder: Error { let code: Int32 }
}
