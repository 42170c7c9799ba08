import CMicroHTTPD
import Synchronization

/// A request on its way through a handler, and the connection that waits for its answer.
///
/// Owned by the task that runs the handler, and, while the connection is suspended, by the bridge, which holds
/// one retain from `request` until `resumed` or `abandoned`.
///
/// `@unchecked Sendable`: `connection` is a pointer that C owns. It is used on two occasions only: on the
/// worker's own thread, and to resume it when `ExchangeState` says that it is suspended, which it says once; a
/// suspended connection stays until it is resumed. Everything else is immutable or under the lock.
final class Exchange: @unchecked Sendable {
    let request: HTTPRequest
    private let core: ServerCore
    private let connection: OpaquePointer
    private let state = Mutex(ExchangeState())
    /// Set on the worker's thread before anybody else can ask for it.
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
        task = Task.immediate(executorPreference: core.executors[request.worker]) { [self] in
            let response = await core.respond(to: request, with: handler)
            finish(response)
        }
        return state.withLock { $0.leave() }
    }

    private func finish(_ response: HTTPResponse) {
        if state.withLock({ $0.finish(response) }) { cmhd_resume(connection) }
        // Who still waits for more of the body waits in vain.
        request.reader?.fail()
    }

    /// The handler waits for more of the body.
    func wantPiece() {
        if state.withLock({ $0.want() }) { cmhd_resume(connection) }
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
