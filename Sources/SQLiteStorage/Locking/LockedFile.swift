import Glibc
import Synchronization

/// An exclusive lock on a file that ends with the process, however the process ends: a lock of the open file
/// description (fcntl(2), `F_OFD_SETLK`), on a byte that no file has. It belongs to the file, not to one of its names.
///
/// SQLite locks other bytes, and its locks belong to the process: closing any descriptor of a file drops all of them
/// (fcntl(2), "Advisory record locking"). So this type keeps one descriptor for each file, shared by all users of the
/// file, and closes it with the last of them. Connections are users too, so they are closed before it.
final class LockedFile: Sendable {
    enum Refusal: Error {
        /// This process or another one holds the lock.
        case isLocked
        /// The value of `errno`.
        case system(Int32)
    }

    private struct OpenFile {
        let descriptor: Int32
        var isLocked = true
        var users = 1
    }

    let identity: FileIdentity
    let descriptor: Int32
    /// Whether this user holds the lock: after a release another user may hold it.
    private let isHeld = Mutex(true)
    private static let files = Mutex<[FileIdentity: OpenFile]>([:])

    /// - Parameters:
    ///   - access: `O_RDONLY` for a lock that keeps writers away, and needs no right to write: other such locks are
    ///     admitted beside it.
    ///   - flags: for open(2), beside those that a lock needs.
    init(_ path: String, access: Int32 = O_RDWR, flags: Int32 = 0) throws(Refusal) {
        let type = access == O_RDONLY ? F_RDLCK : F_WRLCK
        (identity, descriptor) = try Self.files.withLock { files throws(Refusal) in
            // Looked up by name first: a second descriptor of an open file could not be closed.
            if let identity = FileIdentity(path), let file = files[identity] {
                guard !file.isLocked else { throw .isLocked }
                try Self.lock(file.descriptor, type)
                files[identity] = OpenFile(descriptor: file.descriptor, users: file.users + 1)
                return (identity, file.descriptor)
            }
            let descriptor = open(path, access | O_CLOEXEC | O_NONBLOCK | flags, 0o600)
            guard descriptor >= 0 else { throw .system(errno) }
            do throws(Refusal) {
                guard let identity = FileIdentity(descriptor) else { throw .system(errno) }
                try Self.lock(descriptor, type)
                files[identity] = OpenFile(descriptor: descriptor)
                return (identity, descriptor)
            } catch {
                close(descriptor)
                throw error
            }
        }
    }

    deinit {
        release()
        Self.files.withLock { files in
            files[identity]?.users -= 1
            guard files[identity]?.users == 0 else { return }
            files[identity] = nil
            close(descriptor)
        }
    }

    /// Admits others. The file stays open until the last user has gone.
    func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        guard wasHeld else { return }
        Self.files.withLock { files in
            try? Self.lock(descriptor, F_UNLCK)
            files[identity]?.isLocked = false
        }
    }

    private static func lock(_ descriptor: Int32, _ type: Int32) throws(Refusal) {
        var range = flock()
        range.l_type = Int16(type)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = place
        range.l_len = 1
        guard fcntl(descriptor, setLock, &range) != 0 else { return }
        throw errno == EAGAIN || errno == EACCES ? .isLocked : .system(errno)
    }

    /// SQLite's locks begin at 2³⁰, and its largest database ends at 2⁴⁸.
    private static let place: off_t = 1 << 62
    /// F_OFD_SETLK, which Linux has since 3.15 and Glibc's module does not show.
    private static let setLock: Int32 = 37
}
