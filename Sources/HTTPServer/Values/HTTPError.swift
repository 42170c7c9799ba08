import CMicroHTTPD

/// An error response of the server itself: no such path, a body that is too large, a deadline.
///
/// Handlers may throw it as well. `detail` is safe to show to a client.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// The status of the response.
    public let status: HTTPStatus
    /// A stable name for programs, such as `not_found`.
    public let code: String
    /// A sentence for people.
    public let detail: String
    /// Fields of the response, such as `Allow`.
    public let fields: HTTPFields

    /// An error with a stable code for programs and a sentence for people.
    public init(_ status: HTTPStatus, code: String, detail: String, fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = fields
    }

    public var description: String { "\(status.code) \(code): \(detail)" }
}

extension HTTPError {
    static func emptySegments(without path: String) -> HTTPError {
        HTTPError(
            .notFound, code: "not_found",
            detail: "There is nothing at this path, which has a slash too many; \(path) is one.")
    }

    static let notFound = HTTPError(.notFound, code: "not_found", detail: "There is nothing at this path.")
    /// No client sees this error: the handler needs the body of a request that ``HTTPRequest/awaitsContinue``.
    public static let bodyIsAwaited = HTTPError(.continue, code: "continue", detail: "The body is awaited.")

    /// A write may complete although its client no longer waits.
    static func deadline(of method: HTTPMethod) -> HTTPError {
        HTTPError(
            .gatewayTimeout, code: "handler_timeout", detail: "The response was not ready in time." + advice(method))
    }

    /// No room for a response: the write was done.
    static func noRoom(forResponseTo method: HTTPMethod) -> HTTPError {
        HTTPError(
            .serviceUnavailable, code: "out_of_memory",
            detail: "There is no memory left for the response." + advice(method), fields: [.retryAfter: "1"])
    }

    static let noRoomForBody = HTTPError(
        .serviceUnavailable, code: "out_of_memory", detail: "There is no memory left for the request's body.",
        fields: [.retryAfter: "1"])

    private static func advice(_ method: HTTPMethod) -> String {
        method.isSafe ? "" : " The write may have been done: read before you try again."
    }

    static let unsupportedContentEncoding = HTTPError(
        .unsupportedMediaType, code: "unsupported_media_type",
        detail: "The body must be sent without a Content-Encoding.",
        fields: [.acceptEncoding: "identity"])
    static let partialWrite = HTTPError(
        .badRequest, code: "invalid_input", detail: "A part of a body cannot be written: leave out Content-Range.")
    static let stopping = HTTPError(
        .serviceUnavailable, code: "stopping", detail: "The server is stopping.", fields: [.retryAfter: "1"])

    static func methodNotAllowed(_ method: HTTPMethod, allow: String) -> HTTPError {
        HTTPError(
            .methodNotAllowed, code: "method_not_allowed", detail: "\(method) is not possible here; \(allow) are.",
            fields: [.allow: allow])
    }

    static func badTarget(_ detail: String) -> HTTPError {
        HTTPError(.badRequest, code: "invalid_target", detail: detail)
    }
}

extension HTTPError {
    /// - Parameter limits: those of the server that refused the request.
    init?(_ refusal: cmhd_refusal, of method: HTTPMethod, _ limits: HTTPServerConfiguration.Limits) {
        if refusal == CMHD_REFUSAL_NONE { return nil }
        if refusal == CMHD_REFUSAL_OUT_OF_MEMORY {
            self = .noRoomForBody
            return
        }
        let (status, code, detail): (HTTPStatus, String, String) =
            switch refusal {
            case CMHD_REFUSAL_REQUEST_LINE:
                (.badRequest, "malformed_request", "The request does not begin with a valid request line.")
            case CMHD_REFUSAL_TARGET_TOO_LONG:
                (.uriTooLong, "target_too_long", "The request target is longer than \(limits.targetBytes) bytes.")
            case CMHD_REFUSAL_TARGET: (.badRequest, "invalid_target", "The request target is not valid.")
            case CMHD_REFUSAL_FIELDS_TOO_LARGE:
                (
                    .requestHeaderFieldsTooLarge, "head_too_large",
                    "The request line and the header fields together are longer than \(limits.headBytes) bytes."
                )
            case CMHD_REFUSAL_TOO_MANY_FIELDS:
                (
                    .requestHeaderFieldsTooLarge, "too_many_fields",
                    "There are more than \(limits.fields) header fields."
                )
            case CMHD_REFUSAL_TOO_MANY_ARGUMENTS:
                (
                    .badRequest, "too_many_arguments",
                    "The query has more than \(limits.queryArguments) arguments."
                )
            case CMHD_REFUSAL_TOO_MANY_COOKIES:
                (
                    .requestHeaderFieldsTooLarge, "too_many_cookies", "There are more than \(limits.cookies) cookies."
                )
            case CMHD_REFUSAL_LAYOUT:
                (
                    .badRequest, "malformed_request",
                    "A header line is folded, has no colon, or contains a NUL, a bare line feed or a carriage return."
                )
            case CMHD_REFUSAL_FIELD_NAME:
                (
                    .badRequest, "malformed_request",
                    "A header line has no colon, or its name contains a character that is not allowed."
                )
            case CMHD_REFUSAL_FIELD_VALUE:
                (.badRequest, "malformed_request", "The value of a header field contains a control character.")
            case CMHD_REFUSAL_HOST: (.badRequest, "invalid_host", "A request needs exactly one valid Host field.")
            case CMHD_REFUSAL_FRAMING:
                (.badRequest, "ambiguous_length", "The length of the body is missing, malformed or given twice.")
            case CMHD_REFUSAL_CHUNKS: (.badRequest, "malformed_request", "The chunks of the body are malformed.")
            case CMHD_REFUSAL_VERSION:
                (
                    .httpVersionNotSupported, "http_version_not_supported",
                    "Only HTTP/1.1 and HTTP/1.0 are supported."
                )
            case CMHD_REFUSAL_LAST_CODING:
                (.badRequest, "ambiguous_length", "The last transfer coding must be \"chunked\", applied once.")
            case CMHD_REFUSAL_TRANSFER_CODING:
                (.notImplemented, "unknown_transfer_coding", "Only the transfer coding \"chunked\" is supported.")
            case CMHD_REFUSAL_BODY_TOO_LARGE:
                (
                    .contentTooLarge, "body_too_large",
                    method == .get || method == .head
                        ? "The body of a \(method) is larger than \(min(limits.bodyBytes, Int(CMHD_SMALL_BODY))) bytes."
                        : "The request's body is larger than \(limits.bodyBytes) bytes."
                )
            default: (.badRequest, "malformed_request", "The request is malformed.")
            }
        self.init(status, code: code, detail: detail)
    }
}

/// Turns errors into responses.
public protocol HTTPErrorRenderer: Sendable {
    /// The response to an error that a handler threw, or to an `HTTPError` of the server itself.
    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse
}

/// Renders errors as one line of text: the default of a server.
public struct PlainErrorRenderer: HTTPErrorRenderer {
    /// Has no options.
    public init() {}

    /// The status of an `HTTPError` with its detail and fields; any other error is a 500 without a detail.
    public func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        guard let error = error as? HTTPError else {
            return HTTPResponse(.internalServerError, text: "Something went wrong.\n")
        }
        var response = HTTPResponse(error.status, text: error.detail + "\n")
        response.fields.add(contentsOf: error.fields)
        return response
    }
}
