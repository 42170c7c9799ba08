import Glibc
import Synchronization

/// Something that happens once: tests wait for it instead of sleeping.
final class Event: Sendable {
    private struct State {
        var hasHappened = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var hasHappened: Bool { state.withLock(\.hasHappened) }

    func happen() {
        let waiting = state.withLock { state in
            state.hasHappened = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once it has happened, whether or not the task is cancelled.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasHappened { state.waiting.append(continuation) }
                return state.hasHappened
            }
            if isOver { continuation.resume() }
        }
    }

    /// Waits until the task is cancelled.
    static func cancellation() async {
        let event = Event()
        await withTaskCancellationHandler {
            await event.wait()
        } onCancel: {
            event.happen()
        }
    }
}

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
