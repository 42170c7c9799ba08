import Glibc
import Sessions
import Storage

/// A database in a folder of its own, which goes when nobody needs it any more.
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
        services: [String] = ["profile", "quote"], durability: Durability = .commit
    ) throws -> SQLiteStore {
        try SQLiteStore(path: path, services: services, idleTimeout: 1_800_000, durability: durability)
    }

    struct NoFolder: Error { let code: Int32 }
}
