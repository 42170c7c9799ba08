import Glibc

/// Keeps a second server away from a database: a lock on a file beside it, which ends with the process whatever way that
/// ends. SQLite's own locks would let two in, and each would take the other's writes for conflicts.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``StoreOpeningError``.
    init(besides path: String) throws {
        // The file itself, by whatever link it was named: its log is beside it as well.
        let real = realpath(path, nil)
        defer { free(real) }
        let file = real.map { String(cString: $0) } ?? path
        var status = stat()
        let isThere = stat(file, &status) == 0
        if isThere, status.st_nlink > 1 {
            throw StoreOpeningError.unusable(
                path,
                reason: "it has \(status.st_nlink) names (hard links), by which others could open it: leave it one")
        }
        let lock = file + "-lock"
        descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreOpeningError.unusable(
                path, reason: "\(lock): \(String(cString: strerror(errno))): \(StorePlace.advice)")
        }
        // Root may look after a database; its owner has to be able to open it afterwards.
        if isThere, geteuid() == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw StoreOpeningError.unusable(path, reason: "\(lock): \(String(cString: strerror(code)))")
            }
            throw StoreOpeningError.inUse(path)
        }
    }

    deinit { close(descriptor) }

    /// Lets others in.
    func release() { flock(descriptor, LOCK_UN) }
}
