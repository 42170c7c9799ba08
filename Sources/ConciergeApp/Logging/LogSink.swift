import Glibc
import HTTPServer
import Synchronization

/// Lines that wait to be written, and the thread that writes them.
///
/// The writer sleeps, without a timer, until there is a line, and writes it at once. Then it naps: what comes in
/// meanwhile is collected until the nap is over, there is much of it, or a line is urgent. A server that is idle
/// wakes nobody up, and a busy one makes few system calls.
///
/// `@unchecked Sendable`: `state` is only touched while `lock` is held, `output` by the writer alone; the rest never
/// changes. The lock is one of pthreads since `Mutex` has no condition to wait for.
final class LogSink: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    /// The writer waits for this one, and nobody else.
    private let wakeUp: UnsafeMutablePointer<pthread_cond_t>
    /// Those who flush wait for this one.
    private let batchDone: UnsafeMutablePointer<pthread_cond_t>
    /// Behind a pointer, so that no access pays for a check of exclusivity that the lock makes needless.
    private let state: UnsafeMutablePointer<LogBuffer>
    private let output: LogOutput
    private let dropped = Atomic<Int>(0)

    init(descriptor: Int32, form: LogForm, capacity: Int) {
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        wakeUp = .allocate(capacity: 1)
        batchDone = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(wakeUp, &attributes)
        pthread_cond_init(batchDone, &attributes)
        pthread_condattr_destroy(&attributes)
        state = .allocate(capacity: 1)
        state.initialize(to: LogBuffer(form: form, capacity: capacity))
        output = LogOutput(descriptor: descriptor)
    }

    deinit {
        state.pointee.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
        for condition in [wakeUp, batchDone] {
            pthread_cond_destroy(condition)
            condition.deallocate()
        }
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Starts the writer, which keeps the sink alive until `stop`.
    func start() {
        state.pointee.hasWriter = true
        // Rather a slow log than none: without a writer, the thread that appends writes.
        if !DetachedThread.start("log writer", run) { state.pointee.hasWriter = false }
    }

    /// The writer ends once it has written what there is. Nothing may be appended afterwards.
    func stop() {
        pthread_mutex_lock(lock)
        state.pointee.isStopping = true
        pthread_mutex_unlock(lock)
        pthread_cond_signal(wakeUp)
    }

    var droppedLines: Int { dropped.load(ordering: .relaxed) }

    /// Puts the time in front of a line and the line in the buffer.
    /// - Parameters:
    ///   - body: what follows the time, line break included.
    ///   - time: in nanoseconds of the monotonic clock.
    func append(_ body: UnsafeRawBufferPointer, at time: UInt64, urgent: Bool) {
        pthread_mutex_lock(lock)
        let fits = state.pointee.append(body, at: time, urgent: urgent)
        let wakes = state.pointee.callWriter()
        if !state.pointee.hasWriter { drain() }
        pthread_mutex_unlock(lock)
        if !fits { dropped.add(1, ordering: .relaxed) }
        if wakes { pthread_cond_signal(wakeUp) }
    }

    func flush(atMost limit: Duration) -> Bool {
        var deadline = timespec.monotonic(after: limit)
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        let target = state.pointee.added
        guard state.pointee.done < target else { return true }
        state.pointee.isUrgent = true
        if state.pointee.callWriter() { pthread_cond_signal(wakeUp) }
        while state.pointee.done < target {
            if pthread_cond_timedwait(batchDone, lock, &deadline) == ETIMEDOUT { return state.pointee.done >= target }
        }
        return true
    }

    // MARK: The writer

    private func run() {
        // Signals are for other threads, and a reader that went away is an error of `write`, not a signal's matter.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        pthread_mutex_lock(lock)
        while true {
            while state.pointee.isEmpty, !state.pointee.isStopping {
                state.pointee.writer = .asleep
                pthread_cond_wait(wakeUp, lock)
            }
            if state.pointee.isEmpty { break }
            state.pointee.writer = .awake
            drain()
            pthread_cond_broadcast(batchDone)
            nap()
        }
        pthread_mutex_unlock(lock)
    }

    /// Writes what there is. Called with the lock held; while a thread of its own writes, others may append.
    private func drain() {
        let unlocks = state.pointee.hasWriter
        let batch = state.pointee.takeBatch()
        if unlocks { pthread_mutex_unlock(lock) }
        let lost = output.write(batch.bytes)
        if unlocks { pthread_mutex_lock(lock) }
        dropped.add(state.pointee.finish(batch, lost: lost), ordering: .relaxed)
    }

    private func nap() {
        var deadline = timespec.monotonic(after: Self.napTime)
        state.pointee.writer = .napping
        while !state.pointee.isPressing, !state.pointee.isStopping {
            if pthread_cond_timedwait(wakeUp, lock, &deadline) == ETIMEDOUT { break }
        }
        state.pointee.writer = .awake
    }

    /// How long a line may wait for company.
    private static let napTime = Duration.milliseconds(50)
}

extension timespec {
    /// A deadline on the monotonic clock.
    fileprivate static func monotonic(after duration: Duration) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = duration.components
        time.tv_sec += Int(seconds)
        time.tv_nsec += Int(attoseconds / 1_000_000_000)
        if time.tv_nsec >= 1_000_000_000 {
            time.tv_sec += 1
            time.tv_nsec -= 1_000_000_000
        }
        return time
    }
}
