import HTTPServer
import Navigation
import Sessions

/// Turns every error into a problem. What nobody expected becomes a 500 that says nothing but the request's id, and
/// its story goes to the log alone.
struct ProblemRenderer: HTTPErrorRenderer {
    let log: Log

    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        problem(for: error, of: request).response(requestID: request.id.text)
    }

    private func problem(for error: any Error, of request: HTTPRequest) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as SessionError:
            if case .serviceFailed = error { log.failure(request: request, error: error) }
            return Problem(error)
        case let error as JourneyError: return Problem(error)
        case let refusal as JourneyRefusal:
            if case .endless = refusal { log.failure(request: request, error: refusal) }
            return Problem(refusal, ofJourneyAt: request.journeyPath, bringsInput: request.startsJourney)
        case let error as HTTPError:
            guard let kind = ProblemKind.named(error.code) else { break }
            return Problem(kind, error.detail, fields: error.fields)
        default: break
        }
        log.failure(request: request, error: error)
        return Problem(.internalError)
    }
}
