import CMicroHTTPD
import Glibc
import Synchronization
import Threads

/// What a connection waits for. The bridge owns it by one retain until `resumed` or `released`, see `cmhd_callbacks`.
///
/// `@unchecked Sendable`: it has no state.
class Awaited: @unchecked Sendable {
    func suspended() -> Bool { true }
    func end(_ reason: cmhd_end) {}
    func released() {}
}

/// A request whose handler runs, and the connection that waits for its response.
///
/// The task of the handler, or its responder, owns it, and the bridge as well.
///
/// `@unchecked Sendable`: C owns `connection`. It is used on the worker's own thread, and to resume it, once, when
/// `ExchangeState` says that it is suspended. The resumption happens under the lock, and ``released()`` needs the lock
/// as well, so the connection still exists. Everything else is immutable or under the lock.
final class Exchange: Awaited, @unchecked Sendable {
    let request: HTTPRequest
    private let core: ServerCore
    private let connection: OpaquePointer
    private let state = Mutex(ExchangeState())
    /// The worker's.
    private let thread = pthread_self()
    /// Used on the worker's thread only, or after that thread has ended.
    private var task: Task<Void, Never>?
    /// What middleware does to a deferred response, the outermost first. Complete before the handler begins; from then
    /// on used on the worker's thread.
    var followUps: [HTTPOutcome.FollowUp] = []

    init(request: HTTPRequest, core: ServerCore, connection: OpaquePointer) {
        self.request = request
        self.core = core
        self.connection = connection
    }

    /// Continues with the outcome of the handler. Work that never waits is done when this returns, and its response is
    /// returned. Otherwise the response comes later, and the caller suspends the connection.
    func start(_ outcome: consuming HTTPOutcome) -> HTTPResponse? {
        if case .task(let work) = outcome { run(work) } else { proceed(with: outcome) }
        return state.withLock { $0.leave() }
    }

    /// The same for a handler that may take long, which runs on a thread of Swift's pool.
    func startBeside(_ work: @escaping @Sendable () throws -> HTTPOutcome) {
        _ = state.withLock { $0.leave() }
        runBeside(work)
    }

    private func runBeside(_ work: @escaping @Sendable () async throws -> HTTPOutcome) {
        task = Task.detached { [self] in
            ThreadSlice.makeLong()
            // The deadline may have passed while it waited for its turn, or the client has gone.
            if !Task.isCancelled { await follow(work) }
        }
    }

    private func run(_ work: @escaping @Sendable () async throws -> HTTPOutcome) {
        task = Task.immediate(executorPreference: core.executors[request.worker]) { [self] in await follow(work) }
    }

    private func follow(_ work: @Sendable () async throws -> HTTPOutcome) async {
        do {
            var outcome = try await work()
            while case .task(let more) = outcome { outcome = try await more() }
            proceed(with: outcome)
        } catch {
            finish(core.response(to: error, of: request))
        }
    }

    private func proceed(with outcome: consuming HTTPOutcome) {
        switch outcome {
        case .response(let response): finish(response)
        case .deferred(let begin): begin(HTTPResponder(self))
        case .task: preconditionFailure("a task runs its own work to the end")
        }
    }

    /// Has the response made on the worker's thread: at once when that is the calling one, inside the call that handed
    /// the request over.
    func complete(_ make: @escaping @Sendable () throws -> HTTPResponse) {
        if pthread_equal(thread, pthread_self()) != 0, state.withLock(\.isRunning) { return finish(by: make) }
        core.executors[request.worker].run(.response(self, make))
    }

    func finish(by make: () throws -> HTTPResponse) {
        do {
            if followUps.isEmpty { return finish(try make()) }
            var result = Result(catching: make)
            while let followUp = followUps.popLast() {
                switch Result(catching: { try followUp(result) }) {
                case .failure(let error): result = .failure(error)
                case .success(.response(let response)): result = .success(response)
                case .success(let outcome): return try goOn(with: outcome)
                }
            }
            finish(try result.get())
        } catch {
            finish(core.response(to: error, of: request))
        }
    }

    /// Further work follows a deferred response.
    private func goOn(with outcome: HTTPOutcome) throws {
        var outcome = outcome
        while let followUp = followUps.popLast() { outcome = try outcome.followed(by: followUp) }
        switch outcome {
        case .task(let work) where request.isLong: runBeside(work)
        case .task(let work): run(work)
        default: proceed(with: outcome)
        }
    }

    private func finish(_ response: HTTPResponse) {
        guard response.isLongToCompress(for: request) else { return end(with: response) }
        // A handler's own task may run on the worker.
        Task.detached { [self] in end(with: response.encoded(for: request)) }
    }

    private func end(with response: HTTPResponse) {
        state.withLock { if $0.finish(response) { cmhd_resume(connection) } }
    }

    override func suspended() -> Bool { state.withLock { $0.suspended() } }

    /// The response, now that the connection runs again.
    func resumed() -> HTTPResponse? { state.withLock { $0.resumed() } }

    override func released() {
        state.withLock { $0.abandon() }
        task?.cancel()
    }

    /// The response is an error, and the handler is cancelled.
    override func end(_ reason: cmhd_end) {
        let error = reason == CMHD_END_STOPPING ? HTTPError.stopping : .deadline(of: request.method)
        finish(core.response(to: error, of: request))
        task?.cancel()
    }
}
