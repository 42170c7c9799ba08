import HTTPServer

/// An endpoint in the API's description: one method on one path.
///
/// It is beside the handler that implements it. What all operations share is added here: the problems of the transport
/// and of the credential, and `HEAD` for each `GET`.
package struct APIOperation: Sendable {
    /// Who may call the operation.
    package enum Access: Sendable {
        case anyone
        /// On the public listener a caller with a session's token; on the admin listener a caller with the key.
        case caller
    }

    package let method: HTTPMethod
    /// The pattern of the route.
    package var path: String
    /// Unique in the API: generated clients name their functions by it.
    package var id: String
    package var summary: String
    package var access = Access.caller
    /// In addition to those of the path, which the pattern names.
    package var parameters: [APIParameter] = []
    package var body: APIBody?
    package var responses: [APIResponse]
    /// The problems that are specific to this operation.
    package var problems: [ProblemKind] = []

    package init(
        method: HTTPMethod, path: String, id: String, summary: String, access: Access = .caller,
        parameters: [APIParameter] = [], body: APIBody? = nil, responses: [APIResponse], problems: [ProblemKind] = []
    ) {
        self.method = method
        self.path = path
        self.id = id
        self.summary = summary
        self.access = access
        self.parameters = parameters
        self.body = body
        self.responses = responses
        self.problems = problems
    }

    /// Whether the description has it once for each service.
    var isOnService: Bool { path.contains("/services/{name}") }

    /// Whether the description has it once for each command of each service.
    package var isOnCommand: Bool { path.hasSuffix("/commands/{command}") }

    /// Whether it is on a document of the process.
    var isOfProcess: Bool { path.hasPrefix("/v1/services") }

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
            case .userID: path == "/v1/users" ? .personID : nil
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

    package static func canHappenAnywhere(_ kind: ProblemKind) -> Bool { ofTransport.contains { $0.code == kind.code } }

    /// The problems that any request can get; the description lists them once for each status.
    package static let ofTransport: [ProblemKind] = [
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
package struct APIBody: Sendable {
    /// By media type. Without a schema: a JSON Patch.
    let contents: [(mediaType: String, schema: APISchema?)]
    let isRequired: Bool

    package init(_ contents: [(mediaType: String, schema: APISchema?)], isRequired: Bool = true) {
        self.contents = contents
        self.isRequired = isRequired
    }

    package static func json(_ schema: APISchema, isRequired: Bool = true) -> APIBody {
        APIBody([(MediaType.json, schema)], isRequired: isRequired)
    }
}

/// A successful response of an operation. `Request-Id` and the fields against caching are on every response.
package struct APIResponse: Sendable {
    package let status: HTTPStatus
    package let meaning: String
    /// By media type; none for a response without a body.
    let contents: [(mediaType: String, schema: APISchema?)]
    package var headers: [APIHeader]

    package init(
        status: HTTPStatus, meaning: String, contents: [(mediaType: String, schema: APISchema?)] = [],
        headers: [APIHeader] = []
    ) {
        self.status = status
        self.meaning = meaning
        self.contents = contents
        self.headers = headers
    }

    package static func json(
        _ meaning: String, _ schema: APISchema, status: HTTPStatus = .ok, headers: [APIHeader] = []
    ) -> APIResponse {
        APIResponse(status: status, meaning: meaning, contents: [(MediaType.json, schema)], headers: headers)
    }

    /// 204.
    package static func done(_ meaning: String, headers: [APIHeader] = []) -> APIResponse {
        APIResponse(status: .noContent, meaning: meaning, headers: headers)
    }

    package static let unchanged = APIResponse(
        status: .notModified, meaning: "The client has it already.", headers: [.etag])

    /// 204 for a client that prefers no body.
    package static let minimal = done(
        "Done; `Prefer: return=minimal` left out the body.", headers: [.preferenceApplied])
}

/// Operations that belong together, under a heading of the description.
package struct APIGroup: Sendable {
    let name: String
    let meaning: String
    package let operations: [APIOperation]

    package init(name: String, meaning: String, operations: [APIOperation]) {
        self.name = name
        self.meaning = meaning
        self.operations = operations
    }
}
