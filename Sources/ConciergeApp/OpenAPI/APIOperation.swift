import HTTPServer

/// What an endpoint promises: one method on one path, as the API's description shows it.
///
/// Stands beside the handler that keeps the promise. What all operations have in common is said once: which problems
/// come from the transport, which from the credential, and that `HEAD` is wherever `GET` is.
struct APIOperation: Sendable {
    /// Who may call it.
    enum Access: Sendable {
        case anyone
        /// On the public listener a caller with a session's token; on the admin listener a caller with the key.
        case caller
    }

    let method: HTTPMethod
    /// The pattern that the router has.
    let path: String
    /// Unique over the whole API: what generated clients call it.
    let id: String
    let summary: String
    var access = Access.caller
    /// Beside those of the path, which the pattern names.
    var parameters: [APIParameter] = []
    var body: APIBody?
    let answers: [APIAnswer]
    /// What can go wrong here in particular.
    var problems: [ProblemKind] = []

    /// The parameters of the path, in its order.
    var pathParameters: [APIParameter] {
        path.split(separator: "/").compactMap { segment in
            guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return nil }
            return APIParameter(rawValue: String(segment.dropFirst().dropLast()))
        }
    }

    /// The name of a parameter among the components. `session` has a default where it is the only parameter of the path:
    /// clients that openapi-python-client makes have the others behind it, which Python forbids for one with a default.
    func component(of parameter: APIParameter) -> String {
        parameter == .session && pathParameters.count > 1 ? APIParameter.sessionBeforeOthers : parameter.rawValue
    }

    /// Everything that can go wrong, in the order of the statuses.
    func problems(on listener: APIListener) -> [ProblemKind] {
        var kinds = problems + Self.ofTransport
        if access == .caller {
            kinds.append(.ambiguousCredentials)
            kinds.append(.storeUnavailable)
            switch listener {
            case .public: kinds += method.isSafe ? [.unauthenticated] : [.unauthenticated, .crossSite]
            case .admin: kinds += [.adminKeyNeeded, .foreignHost]
            }
            if pathParameters.contains(.session) { kinds.append(.sessionNotFound) }
        }
        if body != nil { kinds += [.unsupportedMediaType, .invalidJSON, .invalidInput] }
        if parameters.contains(.idempotencyKey) {
            kinds += [.invalidIdempotencyKey, .requestInProgress, .idempotencyKeyReused]
        }
        let codes = Set(kinds.map(\.code))
        return ProblemKind.all.filter { codes.contains($0.code) }
    }

    static func canHappenAnywhere(_ kind: ProblemKind) -> Bool { ofTransport.contains { $0.code == kind.code } }

    /// What can happen to any request, whatever it asks for; the description says it once for each status.
    static let ofTransport: [ProblemKind] = [
        .malformedRequest, .invalidTarget, .invalidHost, .ambiguousLength, .tooManyArguments, .bodyTooLarge,
        .targetTooLong, .headTooLarge, .tooManyFields, .tooManyCookies, .internalError, .unknownTransferCoding,
        .unknownVersion, .outOfMemory, .stopping, .handlerTimeout,
    ]
}

/// One of the two listeners of the program, each of which has an API of its own.
package enum APIListener: String, Sendable, CaseIterable {
    case `public`, admin
}

/// What a request carries.
struct APIBody: Sendable {
    /// By media type.
    let contents: [(mediaType: String, schema: APISchema)]
    var isRequired = true

    static func json(_ schema: APISchema, isRequired: Bool = true) -> APIBody {
        APIBody(contents: [(RequestBody.json, schema)], isRequired: isRequired)
    }
}

/// One way for an operation to succeed. `Request-Id` and the fields against caching are on every answer.
struct APIAnswer: Sendable {
    let status: HTTPStatus
    let meaning: String
    /// By media type; none for an answer without a body.
    var contents: [(mediaType: String, schema: APISchema)] = []
    var headers: [APIHeader] = []

    static func json(
        _ meaning: String, _ schema: APISchema, status: HTTPStatus = .ok, headers: [APIHeader] = []
    ) -> APIAnswer {
        APIAnswer(status: status, meaning: meaning, contents: [(RequestBody.json, schema)], headers: headers)
    }

    /// 204.
    static func done(_ meaning: String, headers: [APIHeader] = []) -> APIAnswer {
        APIAnswer(status: .noContent, meaning: meaning, headers: headers)
    }

    /// 204 where the client asked for no body.
    static let minimal = done(
        "Done; `Prefer: return=minimal` left out the body.", headers: [.preferenceApplied])
}
