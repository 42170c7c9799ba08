import API
import HTTPServer

/// Refuses requests until ``Application`` has checked the store: that journeys in it can go on with the loaded flows,
/// before any further one starts. A server whose store was away when it started listens earlier.
struct OpeningMiddleware: HTTPMiddleware {
    let readiness: Readiness

    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        guard readiness.isOpen else { throw Problem(.storeUnavailable, fields: [.retryAfter: "1"]) }
        return try next(request)
    }
}
