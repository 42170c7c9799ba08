import Glibc

/// Keeps a second server away from a database: a lock on a file beside it, which ends with the process whatever way that
/// ends. SQLite's own locks would let two in, and each would take the other's writes for conflicts.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``StoreOpeningError``.
    init(besides path: String) throws {
        let lock = path + "-lock"
        descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw StoreOpeningError.unusable(path, reason: "\(lock): \(reason): \(StorePlace.advice)")
        }
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
