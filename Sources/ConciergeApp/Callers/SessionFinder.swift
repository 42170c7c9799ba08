import HTTPServer
import Sessions

/// Finds the session of a request, if the caller may use it.
struct SessionFinder: Sendable {
    /// Loads it from the store if necessary.
    let any: @Sendable (HTTPRequest) async throws -> Session
    /// Looks only into memory; `nil` when the session may be in the store.
    let resident: @Sendable (HTTPRequest) throws -> Session?

    init(
        any: @escaping @Sendable (HTTPRequest) async throws -> Session,
        resident: @escaping @Sendable (HTTPRequest) throws -> Session? = { _ in nil }
    ) {
        self.any = any
        self.resident = resident
    }

    /// A handler of requests about a session. It waits only for a session that is not in memory.
    func handler(_ handle: @escaping @Sendable (HTTPRequest, Session) throws -> HTTPOutcome) -> HTTPHandler {
        { request in
            guard let session = try resident(request) else {
                return .task { try handle(request, try await any(request)) }
            }
            return try handle(request, session)
        }
    }
}
