import Glibc
import Synchronization

/// Blocks the thread that comes to it until it is opened: what no handler should do, and some do.
final class ThreadGate: Sendable {
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

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    /// The new count.
    @discardableResult
    func increment() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// Resumes whoever waits from a thread that is neither a worker's nor one of the concurrency pool, after delays of
/// microseconds: around the moment at which a connection is being suspended.
final class Delays: Sendable {
    static let shared = Delays()

    private let waiting = Mutex<[(microseconds: Int, continuation: CheckedContinuation<Void, Never>)]>([])

    private init() {
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Delays>.fromOpaque(argument).takeUnretainedValue().run() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        precondition(failure == 0, "no thread for delays")
        pthread_detach(thread)
    }

    func wait(microseconds: Int) async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append((microseconds, continuation)) }
        }
    }

    private func run() -> Never {
        while true {
            let due = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting.sorted { $0.microseconds < $1.microseconds }
            }
            var passed = 0
            for (microseconds, continuation) in due {
                if microseconds > passed { usleep(UInt32(microseconds - passed)) }
                passed = max(passed, microseconds)
                continuation.resume()
            }
            if due.isEmpty { usleep(20) }
        }
    }
}
