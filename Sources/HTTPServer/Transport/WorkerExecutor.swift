import CMicroHTTPD
import Glibc
import Synchronization
import Threads

/// Runs handlers that have waited, and makes deferred responses, on the thread that read the request and owns its
/// connection. When a store wakes many handlers at once, one call wakes that thread for all of them.
final class WorkerExecutor: TaskExecutor {
    /// `@unchecked Sendable`: C owns the pointer, which any thread may use until `ended` returns, see `cmhd_callbacks`.
    private struct Worker: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    enum Work {
        case job(UnownedJob)
        /// The function is called when the worker uses the routes.
        case routes(ServedRoutes, @Sendable () -> Void)
        case response(Exchange, @Sendable () throws -> HTTPResponse)
    }

    private struct State {
        var worker: Worker?
        var work: [Work] = []
        /// The worker has closed its connections. Work that is left runs on another thread.
        var isOver = false
    }

    private let state = Mutex(State())
    /// What the worker serves. Used on its thread only: a request reads it without a lock.
    nonisolated(unsafe) private(set) var routes: ServedRoutes
    /// Threads that are about to call the worker.
    private let calling = Atomic<Int>(0)

    init(_ routes: ServedRoutes) { self.routes = routes }

    func enqueue(_ job: consuming ExecutorJob) { run(.job(UnownedJob(job))) }

    /// Runs the work on the worker's thread as soon as possible.
    func run(_ work: Work) {
        let (isOver, worker) = state.withLock { state -> (Bool, Worker?) in
            if state.isOver { return (true, nil) }
            state.work.append(work)
            // Only the first piece of work has to wake the worker.
            guard state.work.count == 1, let worker = state.worker else { return (false, nil) }
            calling.wrappingAdd(1, ordering: .acquiring)
            return (false, worker)
        }
        if isOver { perform(work, isOver: true) }
        guard let worker else { return }
        // Outside the lock, because the worker takes it when it wakes up.
        cmhd_call_worker(worker.pointer)
        calling.wrappingSubtract(1, ordering: .releasing)
    }

    /// The worker's loop begins.
    func began(_ worker: OpaquePointer) {
        ThreadSlice.makeBrief()
        let worker = Worker(pointer: worker)
        state.withLock { $0.worker = worker }
        // What has come earlier has called nobody.
        run()
    }

    /// Runs the work that has arrived. On the worker's thread.
    func run() {
        // A thread that wakes one handler often wakes more.
        sched_yield()
        var work: [Work] = []
        state.withLock { swap(&$0.work, &work) }
        for work in work { perform(work) }
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
        for work in left { perform(work, isOver: true) }
    }

    /// When the worker's loop is over the connections are closed, but the work may have more to do than to respond.
    private func perform(_ work: Work, isOver: Bool = false) {
        switch work {
        case .job(let job) where isOver: globalConcurrentExecutor.enqueue(job)
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .response(let exchange, let make): exchange.finish(by: make)
        case .routes(let routes, let done):
            self.routes = routes
            done()
        }
    }
}

/// What a worker serves: routes, and the pages of other origins that may use them.
final class ServedRoutes: Sendable {
    let router: Router
    /// `nil` when no page of another origin may call the server.
    let crossOrigin: CrossOriginFields?

    init(_ router: Router, _ crossOrigin: CrossOrigin?, under basePath: String?) {
        self.router = router.served(under: basePath)
        self.crossOrigin = crossOrigin.map(CrossOriginFields.init)
        precondition(self.crossOrigin?.isWellFormed ?? true, "a field of `crossOrigin` is malformed")
    }
}
