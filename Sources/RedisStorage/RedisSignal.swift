import CHiredis
import Glibc
import Storage

/// Wakes a thread that waits in `poll`, alone or with a socket.
final class RedisSignal: Sendable {
    /// An eventfd (`eventfd(2)`).
    let descriptor: Int32

    /// - Throws: ``StoreOpeningError/noThread``.
    init() throws(StoreOpeningError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .noThread }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func wait(until deadline: ContinuousClock.Instant) {
        var places = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if RedisLink.wait(&places, until: deadline) { RedisLink.reset(descriptor) }
    }
}
