/// Observes every response, including those without a handler: refusals, deadlines, unknown paths.
///
/// A class, so that calling it copies nothing.
public protocol HTTPServerObserver: AnyObject, Sendable {
    /// Called on the thread of the request's worker (``HTTPRequest/worker``) before the response is sent. It must be
    /// quick and must not block.
    ///
    /// - Parameters:
    ///   - response: without the fields that every response has, such as `Request-Id`.
    ///   - nanoseconds: since `HTTPRequest.receivedAt`.
    func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64)

    /// An internal error that the client does not see: an error that a handler threw, or a malformed field.
    func failed(_ request: HTTPRequest, _ problem: any Error)
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
