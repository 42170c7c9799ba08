import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// An error as clients see it: RFC 9457, `application/problem+json`.
package struct Problem: Error, Sendable {
    package let kind: ProblemKind
    /// A sentence about this occurrence, safe to show.
    package let detail: String
    /// The errors of the input, at most 32; `detail` says if there are more.
    package let errors: [InvalidInput]
    /// Members that only problems of this kind have (RFC 9457, section 3.2).
    package let members: [(name: String, value: JSONDocument)]
    /// Header fields of the response.
    package let fields: HTTPFields

    package init(
        _ kind: ProblemKind, _ detail: String? = nil, errors: [InvalidInput] = [],
        members: [(name: String, value: JSONDocument)] = [], fields: HTTPFields = [:]
    ) {
        self.kind = kind
        let most = JSONSchema.shownViolations
        let more = errors.count > most ? " Only the first \(most) errors are listed." : ""
        self.detail = (detail ?? kind.explanation) + more
        self.errors = Array(errors.prefix(most))
        self.members = members
        self.fields = fields
    }

    static let mediaType = "application/problem+json"

    package func response(requestID: String) -> HTTPResponse {
        var json = JSONWriter()
        write(to: &json, requestID: requestID)
        var response = HTTPResponse(kind.status, fields: HTTPFields(.problem), body: json.bytes)
        for line in fields.lines { response.fields.add(line.name, line.value) }
        return response
    }

    /// - Parameter requestID: of the request that it is the response to; nil for a part of another response.
    func write(to json: inout JSONWriter, requestID: String?) {
        json.beginObject()
        json.name("type")
        json.string("/problems/\(kind.code)")
        json.name("title")
        json.string(kind.title)
        json.name("status")
        json.int(Int(kind.status.code))
        json.name("detail")
        json.string(detail)
        json.name("code")
        json.string(kind.code)
        if let requestID {
            json.name("request_id")
            json.string(requestID)
        }
        if !errors.isEmpty {
            json.name("errors")
            json.beginArray()
            for error in errors {
                json.beginObject()
                json.name("pointer")
                json.string(error.pointer)
                json.name("detail")
                json.string(error.detail)
                json.endObject()
            }
            json.endArray()
        }
        for member in members {
            json.name(member.name)
            json.document(member.value)
        }
        json.endObject()
    }
}

/// Turns every error into a problem. An unexpected error becomes a 500 that contains only the request's id; its
/// description goes to the log.
struct ProblemRenderer: HTTPErrorRenderer {
    let log: Log
    let counts: ProblemCounts

    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        let problem = problem(for: error, of: request)
        counts.count(problem.kind)
        return problem.response(requestID: request.id.text)
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
            let isArchive = error.status == .contentTooLarge && request.target.hasPrefix(MoveEndpoints.importPath)
            self.init(kind, isArchive ? MoveEndpoints.tooLarge : error.detail, fields: error.fields)
        default: return nil
        }
    }
}
