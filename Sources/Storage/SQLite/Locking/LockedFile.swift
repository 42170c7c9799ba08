import Glibc
import Synchronization

/// A lock on a file that ends with the process, whatever way that ends: one of an open file description (fcntl(2),
/// `F_OFD_SETLK`), at a place where no file has a byte. It belongs to the file and not to one of its names.
///
/// SQLite's own locks, which are on other bytes, belong to the process, and closing any descriptor of a file gives all of
/// those up (fcntl(2), "Advisory record locking"). So of each file there is one descriptor here, however many ask for
/// it, and it is closed when the last of these has gone. They are the connections too, which so are closed before it.
final class LockedFile: Sendable {
    enum Refusal: Error {
        /// Somebody has it, in this process or in another.
        case isLocked
        /// As in `errno`.
        case system(Int32)
    }

    private struct OpenFile {
        let descriptor: Int32
        var isLocked = true
        var users = 1
    }

    let identity: FileIdentity
    let descriptor: Int32
    /// Ends of locks that were released and taken anew by somebody else are not ours to see to.
    private let isHeld = Mutex(true)
    private static let files = Mutex<[FileIdentity: OpenFile]>([:])

    /// - Parameter flags: for open(2), beside those that a lock needs.
    init(_ path: String, flags: Int32 = 0) throws(Refusal) {
        (identity, descriptor) = try Self.files.withLock { files throws(Refusal) in
            // Before a descriptor is made, which could only be closed again.
            if let identity = FileIdentity(path), let file = files[identity] {
                guard !file.isLocked else { throw .isLocked }
                try Self.lock(file.descriptor, F_WRLCK)
                files[identity] = OpenFile(descriptor: file.descriptor, users: file.users + 1)
                return (identity, file.descriptor)
            }
            let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | flags, 0o600)
            guard descriptor >= 0 else { throw .system(errno) }
            do throws(Refusal) {
                guard let identity = FileIdentity(descriptor) else { throw .system(errno) }
                try Self.lock(descriptor, F_WRLCK)
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
            guard let file = files[identity] else { return }
            guard file.users == 1 else {
                files[identity]?.users -= 1
                return
            }
            files[identity] = nil
            close(descriptor)
        }
    }

    /// Lets others in. The file stays open as long as this is there.
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

    /// SQLite's locks are from 2³⁰ on in a database, and its largest one ends at 2⁴⁸.
    private static let place: off_t = 1 << 62
    /// F_OFD_SETLK, which Linux has since 3.15 and Glibc's module does not show.
    private static let setLock: Int32 = 37
}
