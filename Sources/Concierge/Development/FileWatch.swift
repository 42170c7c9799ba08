import Glibc
import Threads

/// Tells when files of some directories were saved: written and closed, moved there or away, or removed.
///
/// It is of one process for good: its thread ends with the process.
final class FileWatch: Sendable {
    private let descriptor: Int32
    /// One element for all files that are saved within some 50 ms of each other.
    let saves: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    private static let mask = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE)
    /// Milliseconds: an editor writes a file and then renames it, and a tool writes several.
    private static let pause: Int32 = 50

    /// Nil when the system has no more of them.
    init?() {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        let (saves, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.saves, self.continuation) = (saves, continuation)
        let isStarted = DetachedThread.start("file watch", isAwaited: false) {
            while Self.hasSave(descriptor) {
                var next = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                while poll(&next, 1, Self.pause) > 0 { _ = Self.hasSave(descriptor) }
                continuation.yield()
            }
            continuation.finish()
        }
        guard isStarted else { return nil }
    }

    /// Also watches a directory; once more changes nothing.
    ///
    /// - Returns: whether it is there.
    @discardableResult
    func watch(_ directory: String) -> Bool {
        inotify_add_watch(descriptor, directory.isEmpty ? "." : directory, Self.mask) >= 0
    }

    /// Has the files looked at once more.
    func look() { continuation.yield() }

    /// Waits for changes.
    ///
    /// - Returns: false at the end.
    private static func hasSave(_ descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { return true }
            guard count < 0, errno == EINTR else { return false }
        }
    }
}
