import HTTPServer

/// An endpoint in the API's description: one method on one path.
///
/// It is beside the handler that implements it. What all operations share is added here: the problems of the transport
/// and of the credential, and `HEAD` for each `GET`.
struct APIOperation: Sendable {
    /// Who may call the operation.
    enum Access: Sendable {
        case anyone
        /// On the public listener a caller with a session's token; on the admin listener a caller with the key.
        case caller
    }

    let method: HTTPMethod
    /// The pattern of the route.
    let path: String
    /// Unique in the API: generated clients name their functions by it.
    let id: String
    let summary: String
    var access = Access.caller
    /// In addition to those of the path, which the pattern names.
    var parameters: [APIParameter] = []
    var body: APIBody?
    let responses: [APIResponse]
    /// The problems that are specific to this operation.
    var problems: [ProblemKind] = []

    /// Whether the description has it once for each service.
    var isOnService: Bool { path.contains("/services/{name}") }

    /// Whether the description has it once for each command of each service.
    var isOnCommand: Bool { path.hasSuffix("/commands/{command}") }

    /// The parameters of the path, in its order.
    var pathParameters: [APIParameter] {
        path.split(separator: "/").compactMap { segment in
            guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return nil }
            return APIParameter(rawValue: String(segment.dropFirst().dropLast()))
        }
    }

    /// The name of a parameter of this operation among the components.
    func componentName(of parameter: APIParameter) -> String {
        let form: APIParameter.Form? =
            switch parameter {
            case .session: pathParameters.count > 1 ? .sessionBeforeOthers : nil
            case .id: path.hasPrefix("/v1/tasks/") ? .taskID : nil
            case .idempotencyKey: access == .anyone ? .secretKey : nil
            default: nil
            }
        return form?.rawValue ?? parameter.rawValue
    }

    /// All problems, in the order of the statuses.
    func problems(on listener: APIListener) -> [ProblemKind] {
        var kinds = problems + Self.ofTransport
        if access == .caller {
            kinds.append(.ambiguousCredentials)
            kinds += [.storeUnavailable, .dataDamaged]
            switch listener {
            case .public: kinds += method.isSafe ? [.unauthenticated] : [.unauthenticated, .crossSite]
            case .admin: kinds += [.adminKeyNeeded, .crossSite, .foreignHost]
            }
            if pathParameters.contains(.session) { kinds.append(.sessionNotFound) }
        }
        if body != nil { kinds += [.unsupportedMediaType, .invalidJSON, .invalidInput] }
        if parameters.contains(.idempotencyKey) {
            kinds += [.invalidIdempotencyKey, .requestInProgress, .replayExpired, .idempotencyKeyReused]
        }
        let codes = Set(kinds.map(\.code))
        return ProblemKind.all.filter { codes.contains($0.code) }
    }

    static func canHappenAnywhere(_ kind: ProblemKind) -> Bool { ofTransport.contains { $0.code == kind.code } }

    /// The problems that any request can get; the description lists them once for each status.
    static let ofTransport: [ProblemKind] = [
        .malformedRequest, .invalidTarget, .invalidHost, .ambiguousLength, .tooManyArguments, .bodyTooLarge,
        .targetTooLong, .quotaExceeded, .headTooLarge, .tooManyFields, .tooManyCookies, .internalError,
        .unknownTransferCoding,
        .unknownVersion, .outOfMemory, .stopping, .handlerTimeout,
    ]
}

/// One of the two listeners of the program. Each has an API of its own.
package enum APIListener: String, Sendable, CaseIterable {
    case `public`, admin
}

/// The body of a request.
struct APIBody: Sendable {
    /// By media type. Without a schema: a JSON Patch.
    let contents: [(mediaType: String, schema: APISchema?)]
    var isRequired = true

    static func json(_ schema: APISchema, isRequired: Bool = true) -> APIBody {
        APIBody(contents: [(RequestBody.json, schema)], isRequired: isRequired)
    }
}

/// A successful response of an operation. `Request-Id` and the fields against caching are on every response.
struct APIResponse: Sendable {
    let status: HTTPStatus
    let meaning: String
    /// By media type; none for a response without a body.
    var contents: [(mediaType: String, schema: APISchema?)] = []
    var headers: [APIHeader] = []

    static func json(
        _ meaning: String, _ schema: APISchema, status: HTTPStatus = .ok, headers: [APIHeader] = []
    ) -> APIResponse {
        APIResponse(status: status, meaning: meaning, contents: [(RequestBody.json, schema)], headers: headers)
    }

    /// 204.
    static func done(_ meaning: String, headers: [APIHeader] = []) -> APIResponse {
        APIResponse(status: .noContent, meaning: meaning, headers: headers)
    }

    /// 204 for a client that prefers no body.
    static let minimal = done(
        "Done; `Prefer: return=minimal` left out the body.", headers: [.preferenceApplied])
}
