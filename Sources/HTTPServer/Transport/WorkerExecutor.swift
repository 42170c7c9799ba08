import CMicroHTTPD
import Glibc
import Synchronization

/// Runs what a handler does after it has waited, and makes deferred responses, on the thread that read the request, where its connection lives: many that a store wakes at once are one call of that thread, and no other has to
/// be woken in between.
final class WorkerExecutor: TaskExecutor {
    /// `@unchecked Sendable`: a pointer that C owns, which may be used on any thread until `ended` returns; so says
    /// `cmhd_callbacks`.
    private struct Worker: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    enum Work {
        case job(UnownedJob)
        case response(Exchange, @Sendable () throws -> HTTPResponse)
    }

    private struct State {
        var worker: Worker?
        var work: [Work] = []
        /// Whose connections are all closed: what still runs has nobody to answer.
        var isOver = false
    }

    private let state = Mutex(State())
    /// Threads that are about to call the worker.
    private let calling = Atomic<Int>(0)

    func enqueue(_ job: consuming ExecutorJob) { run(.job(UnownedJob(job))) }

    /// Does it on the worker's thread, as soon as that comes to it.
    func run(_ work: Work) {
        let (isOver, worker) = state.withLock { state -> (Bool, Worker?) in
            if state.isOver { return (true, nil) }
            state.work.append(work)
            // Only for the first of them: then the worker has been called.
            guard state.work.count == 1, let worker = state.worker else { return (false, nil) }
            calling.wrappingAdd(1, ordering: .acquiring)
            return (false, worker)
        }
        if isOver { runElsewhere(work) }
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
        var work: [Work] = []
        state.withLock { swap(&$0.work, &work) }
        for work in work {
            switch work {
            case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .response(let exchange, let make): exchange.finish(by: make)
            }
        }
    }

    /// The worker's loop is over.
    func ended() {
        let left = state.withLock { state in
            state.isOver = true
            state.worker = nil
            defer { state.work = [] }
            return state.work
        }
        while calling.load(ordering: .acquiring) > 0 { sched_yield() }
        for work in left { runElsewhere(work) }
    }

    /// There is nobody to answer any more, but who made the answer may have more to do.
    private func runElsewhere(_ work: Work) {
        switch work {
        case .job(let job): globalConcurrentExecutor.enqueue(job)
        case .response(let exchange, let make): exchange.finish(by: make)
        }
    }
}
