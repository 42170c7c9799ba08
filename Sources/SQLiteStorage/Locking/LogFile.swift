import Glibc

/// The log's file, as a running server watches it. SQLite goes on writing to a log that has lost its name.
///
/// The descriptor is the server's own: SQLite's locks are on the index and on the database, so that to close it drops
/// none of them.
final class LogFile: Sendable {
    enum Harm: Equatable {
        /// It has no name any more, and is gone with the process.
        case deleted
        /// The name leads to another file, or to none.
        case moved
        /// The end of it is missing.
        case cut
    }

    private let path: String
    private let descriptor: Int32
    private let identity: FileIdentity

    /// Nil when there is no such file.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard let identity = FileIdentity(descriptor) else {
            close(descriptor)
            return nil
        }
        self.path = path
        self.identity = identity
    }

    deinit { close(descriptor) }

    /// - Parameter frames: those that have to be in the log.
    func harm(frames: Int) -> Harm? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        if status.st_nlink == 0 { return .deleted }
        let size = frames == 0 ? 0 : LogInspection.headerSize + frames * LogInspection.frameSize
        return Int(status.st_size) < size ? .cut : nil
    }

    /// Whether the name leads elsewhere.
    var hasMoved: Bool { FileIdentity(path) != identity }
}
