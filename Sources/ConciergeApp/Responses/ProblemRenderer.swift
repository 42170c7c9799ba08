import API
import HTTPServer
import Navigation
import Operations
import Sessions
import Synchronization

/// Turns every error into a problem. An unexpected error becomes a 500 that contains only the request's id; its
/// description goes to the log.
struct ProblemRenderer: HTTPErrorRenderer {
    let log: Log
    let counts: ProblemCounts

    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        let problem = problem(for: error, of: request)
        counts.count(problem.kind)
        // The line of a failure is written also if those of other requests are not.
        request.remark("code", problem.kind.code, isForced: problem.kind.status.code >= 500)
        if request.isOfEventSource, let response = problem.comingBack { return response }
        return problem.response(requestID: request.id.text, basePath: request.basePath)
    }

    private func problem(for error: any Error, of request: HTTPRequest) -> Problem {
        let problem = Problem(for: error, of: request)
        switch error {
        case SessionError.serviceFailed, JourneyRefusal.endless: log.failure(request: request, error: error)
        case SessionError.storeUnavailable(let reason), SessionError.storageFull(let reason): log.storeFailure(reason)
        default: if problem == nil { log.failure(request: request, error: error) }
        }
        return problem ?? Problem(.internalError)
    }
}

extension Problem {
    /// What a client is told of an error; `nil` when it is the server's mistake.
    init?(for error: any Error, of request: HTTPRequest) {
        switch error {
        case let problem as Problem: self = problem
        case let error as SessionError: self.init(error)
        case let error as JourneyError: self.init(error)
        case let error as TaskError: self.init(error)
        case let error as WatchError: self.init(error)
        case let refusal as JourneyRefusal:
            self.init(refusal, ofJourneyAt: request.journeyPath, bringsInput: request.startsJourney)
        case let error as HTTPError:
            guard let kind = ProblemKind.named(error.code) else { return nil }
            let isArchive =
                error.status == .contentTooLarge
                && ["", request.basePath].contains { request.target.hasPrefix($0 + MoveEndpoints.importPath) }
            self.init(
                kind, isArchive ? MoveEndpoints.tooLarge : Self.namingKey(error, of: request), fields: error.fields)
        default: return nil
        }
    }
}

extension Problem {
    /// The keys behind the limits of a request, by the codes of their problems.
    private static let limitKeys = [
        "target_too_long": "limits.target_bytes", "head_too_large": "limits.header_bytes",
        "too_many_fields": "limits.header_count", "too_many_cookies": "limits.cookies",
        "too_many_arguments": "limits.query_arguments", "body_too_large": "limits.body_bytes",
    ]

    /// The detail, with the key that an operator would change.
    private static func namingKey(_ error: HTTPError, of request: HTTPRequest) -> String {
        // No key sets how large the body of a GET may be.
        guard let key = limitKeys[error.code], !request.method.isSafe || request.method == .other("-") else {
            return error.detail
        }
        let listener = key == "limits.body_bytes" ? " of the public listener" : ""
        return "\(error.detail) \(key) sets this limit\(listener)."
    }
}

extension HTTPRequest {
    /// Whether the request starts a journey and may carry its input.
    var startsJourney: Bool {
        guard let pattern = match.route?.pattern.text else { return false }
        return !pattern.hasSuffix("/events") && !pattern.hasSuffix("/navigation")
    }

    /// The path of the journey with the names that the client wrote, so that it works for the client.
    var journeyPath: String? {
        guard let names = match.route?.pattern.parameterNames, names.starts(with: ["session", "id"]) else { return nil }
        let session = String(decoding: parameterBytes(0), as: UTF8.self)
        let journey = String(decoding: parameterBytes(1), as: UTF8.self)
        return "\(basePath)/v1/sessions/\(session)/journeys/\(journey)"
    }
}

/// How many responses were problems, by their codes.
final class ProblemCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func count(_ kind: ProblemKind) { counts.withLock { $0[kind.code, default: 0] += 1 } }

    func write(to metrics: inout OpenMetricsWriter) {
        metrics.counter(
            "concierge_problems", help: "Responses that were problems, by their codes.",
            by: "code", counts.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } })
    }
}
