import Glibc
import Synchronization

/// Holds up the thread that comes to it until it is opened: what no handler should do, and some do.
final class Gate: Sendable {
    private let arrived: Semaphore
    private let opened: Semaphore

    init() {
        arrived = Semaphore()
        opened = Semaphore()
    }

    func block() {
        arrived.signal()
        opened.wait()
    }

    func waitUntilBlocked() { arrived.wait() }
    func open() { opened.signal() }
}

/// `@unchecked Sendable`: the semaphore is made for being used from any thread.
private final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }
    func wait() { while sem_wait(semaphore) != 0 {} }
}
