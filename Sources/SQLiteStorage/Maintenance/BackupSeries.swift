import Glibc
import Storage
import Synchronization

/// The backups of one database in a directory, `sessions-20261129T101500Z.db` of `sessions.db`: adds one, and removes
/// the oldest. Other files are left alone, and so is a backup of a later time than now, which a wrong clock has made:
/// it is neither counted nor removed.
package final class BackupSeries: Sendable {
    private let directory: String
    /// What the names begin with: the name of the database without its ending, and a hyphen.
    private let stem: String
    private let keep: Int
    private let keys: DocumentKeys?
    /// The directory, open and locked; nil until the first backup.
    private let held = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - directory: has to exist: it may be another disk, and making it would fill the wrong one.
    ///   - path: the path of the database.
    ///   - keep: how many stay.
    ///   - keys: open what is sealed, for the check.
    package init(in directory: String, of path: String, keep: Int, keys: DocumentKeys?) {
        self.directory = directory
        let name = path.split(separator: "/").last.map(String.init) ?? path
        stem = (name.hasSuffix(Self.ending) ? String(name.dropLast(Self.ending.count)) : name) + "-"
        self.keep = keep
        self.keys = keys
    }

    deinit { held.withLock { if let descriptor = $0 { close(descriptor) } } }

    /// Why no backup can be made in a directory, found without making anything, and whether that is a mistake that time
    /// does not mend; nil when one can.
    package static func obstacle(in directory: String) -> (reason: String, isNonsense: Bool)? {
        var status = stat()
        guard stat(directory, &status) == 0 else { return (String(cString: strerror(errno)), errno == ENOTDIR) }
        guard status.st_mode & S_IFMT == S_IFDIR else { return ("it is not a directory", true) }
        return access(directory, W_OK | X_OK) == 0 ? nil : ("user \(getuid()) may not write to it", false)
    }

    /// A backup that was made.
    package struct Backup: Sendable {
        package let file: String
        package let bytes: Int
        package let sessions: Int
        /// What the check has found first; then the file does not belong to the series. Nil when nothing is wrong.
        package let damage: String?
        /// Why an old one is still there.
        package let obstacle: String?
    }

    /// - Parameter now: in seconds since 1970.
    /// - Returns: the time of the newest backup; nil when there is none.
    package func newest(now: Int64) -> Int64? {
        (try? backups(until: now))?.first?.time
    }

    /// Copies one state of the store to a file with the time in its name, and checks the copy before it gets the name.
    ///
    /// - Parameters:
    ///   - now: in seconds since 1970.
    ///   - isEnded: asked before the store is read and now and then while it is; true ends the copy.
    ///   - copied: called when the store is not read any more, unless this throws before.
    /// - Throws: ``BackupError``, ``StoreDraftError``, ``StoreOpeningError``.
    package func add(
        _ store: SQLiteStore, now: Int64, isEnded: @escaping () -> Bool, copied: () -> Void
    ) throws -> Backup {
        try hold()
        for name in try names() where name.hasSuffix(Self.draftEnding) && time(of: name, Self.draftEnding) != nil {
            unlink(path(name))
        }
        let target = path(stem + Self.text(of: now) + Self.ending)
        let draft = try StoreDraft(of: target, from: store.lock.path, replaces: false)
        var isPublished = false
        defer { if !isPublished { unlink(draft.path) } }
        try copy(store, to: draft, isEnded: isEnded)
        copied()
        var damage: String?
        let check = try StoreCheck.run(draft.path, keys: keys, isCopy: true) { damage = damage ?? $0 }
        try draft.publish()
        isPublished = true
        var file = target
        if damage != nil {
            // The next one replaces it, so that damage does not fill the disk.
            file = path(stem + "damaged" + Self.ending)
            guard rename(target, file) == 0 else { throw BackupError.system(target, errno) }
        }
        return Backup(
            file: file, bytes: StoreFile.size(of: file), sessions: check.sessions, damage: damage,
            obstacle: damage == nil ? removeOld(now: now) : nil)
    }

    private func copy(_ store: SQLiteStore, to draft: StoreDraft, isEnded: () -> Bool) throws {
        func goOn() throws(StoreDraftError) {
            guard !isEnded() else { throw .failed(draft.target, reason: "the server stops") }
        }
        try goOn()
        guard !store.lock.hasMoved else { throw BackupError.moved(store.lock.path) }
        let source = try SQLiteConnection(store.lock.path, .read, under: store.lock)
        let needed = Int(try source.number("PRAGMA page_count") ?? 0) * SQLiteSchema.pageSize + Self.spareBytes
        var room = statvfs()
        guard statvfs(directory, &room) == 0 else { throw BackupError.system(directory, errno) }
        let free = Int(room.f_bavail) * Int(room.f_frsize)
        guard free >= needed else { throw BackupError.noRoom(directory, needed: needed, free: free) }
        _ = try StoreBackup(of: source, to: draft) { () throws(StoreDraftError) in
            try goOn()
            try draft.sync()
        }
    }

    /// The store may be on the same disk, and must not meet its end.
    private static let spareBytes = 64 << 20

    /// Removes all but the newest.
    private func removeOld(now: Int64) -> String? {
        do {
            for old in try backups(until: now).dropFirst(keep) {
                let file = path(old.name)
                // A program that has read it leaves an empty log.
                for ending in ["-wal", "-shm"] { unlink(file + ending) }
                guard unlink(file) == 0 else { throw BackupError.system(file, errno) }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The newest first. One with writes in a log of its own has become a database.
    private func backups(until now: Int64) throws(BackupError) -> [(name: String, time: Int64)] {
        try names().compactMap { name in time(of: name, Self.ending).map { (name, $0) } }
            .filter { $0.1 <= now && StoreFile.size(of: path($0.0) + "-wal") == 0 }
            .sorted { $0.1 > $1.1 }
    }

    /// Keeps another server from taking these backups for its own, until the process ends.
    private func hold() throws(BackupError) {
        try held.withLock { held throws(BackupError) in
            if let held, FileIdentity(held) == FileIdentity(directory) { return }
            let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .system(directory, errno) }
            // Some network file systems have no locks for directories.
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                close(descriptor)
                throw .inUse(directory)
            }
            if let former = held { close(former) }
            held = descriptor
        }
    }

    private func names() throws(BackupError) -> [String] {
        guard let stream = opendir(directory) else { throw .system(directory, errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    // MARK: Names

    private static let ending = ".db"
    private static let draftEnding = ending + ".partial"

    /// The time in the name of a backup; nil for any other name.
    private func time(of name: String, _ ending: String) -> Int64? {
        guard name.hasPrefix(stem), name.hasSuffix(ending), name.utf8.count > stem.utf8.count + ending.utf8.count
        else { return nil }
        return Self.time(String(name.dropFirst(stem.count).dropLast(ending.count)))
    }

    /// `20261129T101500Z`, in the order of time when sorted.
    static func text(of time: Int64) -> String {
        var (seconds, parts) = (time_t(time), tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func time(_ text: String) -> Int64? {
        let digits = text.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.map { Int32($0 - 48) }
        guard text.utf8.count == 16, digits.count == 14 else { return nil }
        func number(_ places: Range<Int>) -> Int32 { digits[places].reduce(0) { $0 * 10 + $1 } }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (number(0..<4) - 1900, number(4..<6) - 1, number(6..<8))
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (number(8..<10), number(10..<12), number(12..<14))
        let time = Int64(timegm(&parts))
        // Also refuses a thirteenth month and the like.
        return self.text(of: time) == text ? time : nil
    }
}

/// Why a backup could not be made, in a sentence that says what to do.
package enum BackupError: Error, CustomStringConvertible, Equatable {
    case system(String, Int32)
    case inUse(String)
    case moved(String)
    case noRoom(String, needed: Int, free: Int)

    package var description: String {
        switch self {
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))."
        case .inUse(let directory):
            "\(directory) has the backups of another server that runs: give each server a directory of its own."
        case .moved(let path): "\(path) was moved or replaced while the server runs: see docs/store.md."
        case .noRoom(let directory, let needed, let free):
            "\(directory) has \(free >> 20) MiB of room, and a backup needs \(needed >> 20): make room, or lower "
                + "backup.keep."
        }
    }
}
