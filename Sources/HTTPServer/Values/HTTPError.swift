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
