import CMicroHTTPD
import Synchronization

/// A request on its way through a handler, and the connection that waits for its answer.
///
/// Owned by the task that runs the handler, or by what the answer was put off for, and, while the connection is
/// suspended, by the bridge, which holds one retain from `request` until `resumed` or `abandoned`.
///
/// `@unchecked Sendable`: `connection` is a pointer that C owns. It is used on two occasions only: on the
/// worker's own thread, and to resume it when `ExchangeState` says that it is suspended, which it says once. That is
/// done under the lock: it stays until then, since ``abandoned()`` wants the lock as well. Everything else is immutable
/// or under the lock.
final class Exchange: @unchecked Sendable {
    let request: HTTPRequest
    private let core: ServerCore
    private let connection: OpaquePointer
    private let state = Mutex(ExchangeState())
    /// Touched on the worker's thread only; and on another when that one is over, and nobody asks for it any more.
    private var task: Task<Void, Never>?

    init(request: HTTPRequest, core: ServerCore, connection: OpaquePointer) {
        self.request = request
        self.core = core
        self.connection = connection
    }

    /// Starts the handler right here: one that never waits is done when this returns, and its answer is
    /// returned. Otherwise the answer comes later, and the connection is to be suspended.
    func start(_ handler: @escaping HTTPHandler) -> HTTPResponse? {
        request.reader?.belongs(to: self)
        run(handler)
        return leave()
    }

    private func run(_ handler: @escaping HTTPHandler) {
        task = Task.immediate(executorPreference: core.executors[request.worker]) { [self] in
            let response = await core.respond(to: request, with: handler)
            finish(response)
        }
    }

    /// The handler has put the answer off; `error` is what it threw all the same.
    func leave(with error: HTTPResponse? = nil) -> HTTPResponse? {
        if let error { finish(error) }
        return state.withLock { $0.leave() }
    }

    /// What the answer was put off for is done: has `make` called on the worker's thread.
    func answer(by make: @escaping @Sendable () throws -> HTTPResponse?) {
        core.executors[request.worker].run(.answer(self, make))
    }

    /// Nil from `make`: it comes to waiting after all.
    func finish(by make: @Sendable () throws -> HTTPResponse?) {
        do {
            if let response = try make() { return finish(response) }
        } catch {
            return finish(core.response(to: error, of: request))
        }
        // Nothing has been done yet, and somebody who has gone does not want it any more.
        guard let route = request.match.route, !state.withLock(\.isOver) else { return }
        run(route.handler)
    }

    private func finish(_ response: HTTPResponse) {
        state.withLock { if $0.finish(response) { cmhd_resume(connection) } }
        // Who still waits for more of the body waits in vain.
        request.reader?.fail()
    }

    /// The handler waits for more of the body.
    func wantPiece() {
        state.withLock { if $0.want() { cmhd_resume(connection) } }
    }

    /// See `cmhd_callbacks.wants_piece`.
    func runsForPiece() -> Bool { state.withLock { $0.runsForPiece() } }

    /// See `cmhd_callbacks.piece`.
    func pieceCame(_ piece: [UInt8]) {
        state.withLock { $0.pieceCame() }
        request.reader?.deliver(piece)
    }

    /// See `cmhd_callbacks.suspended`.
    func suspended() -> Bool { state.withLock { $0.suspended() } }

    /// The answer, now that the connection runs again.
    func resumed() -> HTTPResponse? { state.withLock { $0.resumed() } }

    func abandoned() {
        state.withLock { $0.abandon() }
        request.reader?.fail()
        task?.cancel()
    }

    /// The request has waited long enough: it is answered with an error, and its handler told to stop.
    func end(_ error: HTTPError) {
        finish(core.errors.response(to: error, of: request))
        task?.cancel()
    }
}
