import Glibc
import Storage

/// Puts a backup in the place of a database that no server uses. Nothing is lost by it: the former database stays under
/// another name, and one that a log belongs to is not replaced.
package struct StoreRestore {
    /// Nil for a backup of an older version, which only a start can read.
    package let sessions: Int?
    /// Where the former database is now; nil when there was none.
    package let former: String?

    /// - Parameters:
    ///   - now: in seconds since 1970.
    ///   - keys: open what is sealed, for the check.
    ///   - takesDamaged: whether a backup in which something is wrong is restored.
    ///   - tell: gets each finding of the check as a sentence.
    /// - Throws: ``StoreOpeningError``, ``StoreDraftError``, ``StoreRestoreError``.
    package init(
        of backup: String, to path: String, now: Int64, keys: DocumentKeys?, takesDamaged: Bool,
        tell: @escaping (String) -> Void
    ) throws {
        guard StoreFile.size(of: backup + "-wal") == 0 else { throw StoreRestoreError.backupHasLog(backup) }
        let path = FileLock.realPath(of: path)
        // An empty file is what is left of a database: there is nothing to keep.
        let hasFormer = StoreFile.size(of: path) > 0
        // Held to the end, so that no server starts on the former database meanwhile.
        let lock = hasFormer ? try FileLock(on: path, makesFile: false) : nil
        defer { lock?.release() }
        if let problem = StorePlace(path).problemOfLog { throw problem }
        guard StoreFile.size(of: path + "-wal") == 0 else { throw StoreRestoreError.hasLog(path) }
        sessions = try Self.check(backup, keys, takesDamaged, tell)
        let draft = try StoreDraft(of: path, from: backup, replaces: access(path, F_OK) == 0)
        let source = try StoreFile(backup, from: SQLiteSchema.firstWithRows, isCopy: true)
        _ = try StoreBackup(of: source.connection, to: draft)
        try Self.giveAway(draft.path, beside: path)
        former = hasFormer ? "\(path).replaced-\(BackupSeries.text(of: now))" : nil
        if let former, link(path, former) != 0 {
            throw StoreDraftError.failed(former, reason: String(cString: strerror(errno)))
        }
        do {
            try draft.publish()
        } catch {
            if let former { unlink(former) }
            throw error
        }
    }

    /// - Returns: the number of sessions; nil when it cannot be counted.
    private static func check(
        _ backup: String, _ keys: DocumentKeys?, _ takesDamaged: Bool, _ tell: @escaping (String) -> Void
    ) throws -> Int? {
        do {
            let check = try StoreCheck.run(backup, keys: keys, isCopy: true, tell: tell)
            guard check.findings == 0 || takesDamaged else { throw StoreRestoreError.damaged(backup) }
            return check.sessions
        } catch StoreOpeningError.otherVersion(_, _, _, isUpgraded: true) {
            tell("it is of an older version and was not checked; the next start upgrades it")
            return nil
        }
    }

    /// An administrator restores what the user of the server has to open.
    private static func giveAway(_ file: String, beside path: String) throws(StoreDraftError) {
        var owner = stat()
        guard geteuid() == 0, stat(StorePlace.directory(of: path), &owner) == 0 else { return }
        guard chown(file, owner.st_uid, owner.st_gid) == 0 else {
            throw .failed(path, reason: String(cString: strerror(errno)))
        }
    }
}

/// Why a backup is not restored, in a sentence that says what to do.
package enum StoreRestoreError: Error, CustomStringConvertible, Equatable {
    case backupHasLog(String)
    case hasLog(String)
    case damaged(String)

    package var description: String {
        switch self {
        case .backupHasLog(let backup):
            "\(backup)-wal has writes that are not in \(backup), and would be lost: make a copy of it with `concierge "
                + "store backup COPY --store sqlite:\(backup)`, and restore that."
        case .hasLog(let path):
            "\(path)-wal has writes that are not in \(path), and would be lost: start the server once and stop it, which "
                + "copies them; or, to give them up, move \(path)-wal away first and \(path) after it."
        case .damaged(let backup):
            "Something is wrong in \(backup), so it is not restored: name an older backup, or pass --force."
        }
    }
}
