import CMicroHTTPD
import Glibc
import Synchronization

/// Runs what a handler does after it has waited on the thread that read its request, where its connection lives: many
/// handlers that a store wakes at once are one call of that thread, and no other has to be woken in between.
final class WorkerExecutor: TaskExecutor {
    /// `@unchecked Sendable`: a pointer that C owns, which may be used on any thread until `ended` returns; so says
    /// `cmhd_callbacks`.
    private struct Worker: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private struct State {
        var worker: Worker?
        var jobs: [UnownedJob] = []
        /// Whose connections are all closed: what still runs has nobody to answer.
        var isOver = false
    }

    private let state = Mutex(State())
    /// Threads that are about to call the worker.
    private let calling = Atomic<Int>(0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isOver, worker) = state.withLock { state -> (Bool, Worker?) in
            if state.isOver { return (true, nil) }
            state.jobs.append(job)
            // Only for the first of them: then the worker has been called.
            guard state.jobs.count == 1, let worker = state.worker else { return (false, nil) }
            calling.wrappingAdd(1, ordering: .acquiring)
            return (false, worker)
        }
        if isOver { globalConcurrentExecutor.enqueue(job) }
        guard let worker else { return }
        // Not with the lock held: the worker wakes up and wants it.
        cmhd_call_worker(worker.pointer)
        calling.wrappingSubtract(1, ordering: .releasing)
    }

    /// The worker's loop begins.
    func began(_ worker: OpaquePointer) {
        let worker = Worker(pointer: worker)
        state.withLock { $0.worker = worker }
    }

    /// Runs what has come in. On the worker's thread.
    func run() {
        // Whoever wakes one handler often wakes more.
        sched_yield()
        var jobs: [UnownedJob] = []
        state.withLock { swap(&$0.jobs, &jobs) }
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// The worker's loop is over.
    func ended() {
        let left = state.withLock { state in
            state.isOver = true
            state.worker = nil
            defer { state.jobs = [] }
            return state.jobs
        }
        while calling.load(ordering: .acquiring) > 0 { sched_yield() }
        for job in left { globalConcurrentExecutor.enqueue(job) }
    }
}
