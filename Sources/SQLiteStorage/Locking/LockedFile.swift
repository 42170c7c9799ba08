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

/// Tells a file from every other file, whatever its names are.
package struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// Nil when there is no such file or this process may not look.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }

    /// An opaque text that differs for any other file, also for a file on another machine that may be a copy of this
    /// one. It changes when the machine restarts.
    package var text: String {
        "\(Self.bootID)-\(String(device, radix: 16))-\(String(inode, radix: 16))"
    }

    /// A number for the time since the machine was started; 0 when it is unknown.
    static let boot = bootID.utf8.reduce(Int64(0)) { ($0 &* 31 &+ Int64($1)) & .max }

    /// random(4): generated at boot.
    private static let bootID: String = {
        var bytes = [UInt8](repeating: 0, count: 36)
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        return String(decoding: bytes[..<max(0, read(descriptor, &bytes, bytes.count))], as: UTF8.self)
    }()
}
