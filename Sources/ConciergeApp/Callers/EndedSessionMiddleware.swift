import HTTPServer
import Sessions

/// On the admin listener a session that ends while something is done with it is one that is not there. To its own client
/// that would be said of the token, which an admin has none of.
struct EndedSessionMiddleware: HTTPMiddleware {
    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        try .transforming(request, next) { result in
            do {
                return try result.get()
            } catch SessionError.ended {
                throw Problem(.sessionNotFound)
            }
        }
    }
}
