import Sessions
import Support
import Synchronization

@testable import ConciergeApp
@testable import HTTPServer

/// The middleware around one handler, asked without a socket in between. Each caller has a session.
final class IdempotentPlace: Sendable {
    let clock = SteeredClock()
    let store: any SessionStore
    let sessions: Sessions
    let idempotency: Idempotency
    private let callers = Mutex<[String: Session]>([:])
    private let isAdministered: Bool
    private let handler: Handler
    typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse
    private let doneCount = Mutex(0)

    /// How often the handler was entered.
    var done: Int { doneCount.withLock { $0 } }

    /// The caller is whoever the field `Caller` names; "nobody" is refused.
    ///
    /// - Parameter isAdministered: whether the field names a session, and an administrator is the caller.
    init(
        limits: Idempotency.Limits = .init(), store: any SessionStore = MemoryStore(),
        isAdministered: Bool = false,
        handler: @escaping Handler = { HTTPResponse(.created, text: "made \($0.id)") }
    ) throws {
        self.store = store
        self.isAdministered = isAdministered
        self.handler = handler
        var settings = SessionSettings()
        settings.idleTimeout = 1 << 50
        settings.lifetime = 1 << 50
        sessions = Sessions(settings: settings, catalog: try ServiceCatalog(), store: store, clock: clock)
        idempotency = Idempotency(limits: limits, sessions: sessions, clock: clock)
    }

    /// The session of a caller.
    func session(of caller: String = "ada") async throws -> Session {
        if let session = callers.withLock({ $0[caller] }) { return session }
        let (new, _) = try await sessions.create()
        return callers.withLock { callers in
            defer { callers[caller] = callers[caller] ?? new }
            return callers[caller] ?? new
        }
    }

    private var middleware: IdempotencyMiddleware {
        IdempotencyMiddleware(
            idempotency, errors: PlainErrorRenderer(),
            owner: { [self] request in
                let caller = request.fields["Caller"] ?? "somebody"
                if caller == "nobody" { throw HTTPError(.unauthorized, code: "unauthorized", detail: "Who are you?") }
                let session = try await session(of: caller)
                return isAdministered ? .administrator(session) : KeyOwner(.peer(caller), .session(session))
            }, residentOwner: { _ in nil })
    }

    func ask(_ request: HTTPRequest) async throws -> HTTPResponse {
        var outcome = try middleware.respond(to: request) { [self] request in
            .task {
                self.doneCount.withLock { $0 += 1 }
                return .response(try await self.handler(request))
            }
        }
        while case .task(let work) = outcome { outcome = try await work() }
        guard case .response(let response) = outcome else { throw CancellationError() }
        return response
    }

    func post(
        _ key: String, id: String = "r", body: String = "{}", caller: String = "ada"
    ) async throws -> HTTPResponse {
        try await ask(makeRequest(key: key, id: id, body: body, caller: caller))
    }
}

func makeRequest(
    _ method: HTTPMethod = .post, target: String = "/v1/things", key: String? = nil, id: String = "r",
    type: String = "application/json", body: String = "{}", caller: String = "ada",
    more: [(HTTPFieldName, String)] = []
) -> HTTPRequest {
    let fields: [(HTTPFieldName, String)] =
        [("Caller", caller), (.contentType, type)] + (key.map { [(.idempotencyKey, $0)] } ?? []) + more
    return HTTPRequest(
        id: RequestID(sent: id.utf8) ?? RequestID(prefix: 0, number: 0), method: method,
        fields: HTTPRequestFields(target: target, fields: fields), body: Array(body.utf8), peer: .unknown, match: .none,
        receivedAt: 0, worker: 0)
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
    var lines: [String] { fields.lines.map { "\($0.name.text): \($0.value)" } }
    var isReplayed: Bool { fields[.idempotencyReplayed] == "true" }
}

/// Holds up the first who comes until it is opened, and says when somebody has come: tests wait for it instead of
/// sleeping. Others pass, so that a test of what lets only one through fails and does not hang when two get there.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var hasVisitor = false
        var visitor: CheckedContinuation<Void, Never>?
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func pass() async {
        await withCheckedContinuation { continuation in
            let released: [CheckedContinuation<Void, Never>] = state.withLock { state in
                if state.isOpen || state.hasVisitor { return [continuation] }
                state.hasVisitor = true
                state.visitor = continuation
                defer { state.watchers = [] }
                return state.watchers
            }
            for continuation in released { continuation.resume() }
        }
    }

    /// Returns once somebody has come.
    func visit() async {
        await withCheckedContinuation { continuation in
            let hasVisitor = state.withLock { state in
                if !state.hasVisitor { state.watchers.append(continuation) }
                return state.hasVisitor
            }
            if hasVisitor { continuation.resume() }
        }
    }

    func open() {
        let visitor = state.withLock { state in
            state.isOpen = true
            defer { state.visitor = nil }
            return state.visitor
        }
        visitor?.resume()
    }
}
