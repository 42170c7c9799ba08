import CPageChecksums
import Glibc

/// A new database under another name, until it is whole. A command uses the file that an interrupted one has left.
final class StoreDraft {
    let path: String
    let target: String
    private let replaces: Bool
    private let descriptor: Int32

    /// - Parameters:
    ///   - source: the store that it is made from.
    ///   - replaces: whether to replace an existing file. The store itself is never replaced.
    init(of target: String, from source: String, replaces: Bool) throws(StoreDraftError) {
        try Self.checkTarget(target, of: source, replaces: replaces)
        self.target = target
        self.replaces = replaces
        path = target + ".partial"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed(target, reason: Self.reason(path)) }
        // SQLite's locks are of another kind and do not see this one.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .failed(target, reason: "another command is writing \(path)")
        }
        guard ftruncate(descriptor, 0) == 0 else { throw .failed(target, reason: Self.reason(path)) }
    }

    deinit { close(descriptor) }

    /// Writes what is there to the disk, so that the sync at the end is short.
    func sync() throws(StoreDraftError) {
        guard fdatasync(descriptor) == 0 else { throw .failed(target, reason: Self.reason(path)) }
    }

    /// Makes a page fail its checksum, as it does in the source: otherwise what it hides would be gone without a word.
    func markDamaged(_ page: UInt32) throws(StoreDraftError) {
        let place = off_t(page) * off_t(SQLiteSchema.pageSize) - 4
        var sum: UInt32 = 0
        guard pread(descriptor, &sum, 4, place) == 4 else { throw .failed(target, reason: Self.reason(path)) }
        // 0 would stand for a page without a checksum.
        sum = ~sum == 0 ? 1 : ~sum
        guard pwrite(descriptor, &sum, 4, place) == 4 else { throw .failed(target, reason: Self.reason(path)) }
    }

    /// Syncs the file before it gets its name, and its name before the caller learns of it.
    func publish() throws(StoreDraftError) {
        guard fsync(descriptor) == 0 else { throw .failed(target, reason: Self.reason(path)) }
        if replaces {
            for ending in ["-wal", "-shm"] { unlink(target + ending) }
            guard rename(path, target) == 0 else { throw .failed(target, reason: Self.reason(target)) }
        } else {
            // Another file may have appeared meanwhile.
            errno = cpagechecksums_rename_new(path, target)
            guard errno == 0 else {
                throw errno == EEXIST ? .exists(target) : .failed(target, reason: Self.reason(target))
            }
        }
        let directory = StorePlace.directory(of: target)
        guard StorePlace.sync(directory) else { throw .failed(target, reason: Self.reason(directory)) }
    }

    private static func checkTarget(_ target: String, of path: String, replaces: Bool) throws(StoreDraftError) {
        var existing = stat()
        if stat(target, &existing) == 0 {
            guard FileIdentity(target) != FileIdentity(path) else { throw .itself(target) }
            guard existing.st_mode & S_IFMT == S_IFREG else { throw .noFile(target) }
            guard replaces else { throw .exists(target) }
        }
        // The store's other files, whether they exist or not.
        for ending in ["-wal", "-shm"] where Self.isSameName(target, path + ending) { throw .itself(target) }
        // SQLite would take it for the log of the copy. To read a copy leaves an empty log beside it.
        guard StoreFile.size(of: target + "-wal") == 0 else { throw .hasLog(target) }
    }

    /// Whether both names mean one entry of one directory.
    private static func isSameName(_ name: String, _ other: String) -> Bool {
        name.split(separator: "/").last == other.split(separator: "/").last
            && FileIdentity(StorePlace.directory(of: name)) == FileIdentity(StorePlace.directory(of: other))
    }

    private static func reason(_ path: String) -> String { "\(path): \(String(cString: strerror(errno)))" }
}

/// Why a new database cannot be made, in a sentence that says what to do.
package enum StoreDraftError: Error, CustomStringConvertible, Equatable {
    case exists(String)
    case itself(String)
    case noFile(String)
    case hasLog(String)
    case failed(String, reason: String)

    package var description: String {
        switch self {
        case .exists(let target): "\(target) already exists: name another file, or pass --force."
        case .itself(let target): "\(target) is the store itself: name another file."
        case .noFile(let target): "\(target) is not an ordinary file: name one."
        case .hasLog(let target):
            "\(target)-wal exists, so \(target) is in use or was not closed: name another file."
        case .failed(let target, let reason): "\(target) could not be written: \(reason)."
        }
    }
}
