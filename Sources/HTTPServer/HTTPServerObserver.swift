/// Told of every answer, also of those that no handler gave: refusals, deadlines, paths that do not exist.
///
/// An object, so that asking one costs no copy of a box for each answer.
public protocol HTTPServerObserver: AnyObject, Sendable {
    /// Called on the thread of the request's worker (``HTTPRequest/worker``), before the answer is on its way: quick, and
    /// never blocking.
    ///
    /// - Parameters:
    ///   - response: without what every answer has, such as its `Request-Id`.
    ///   - nanoseconds: since `HTTPRequest.receivedAt`.
    func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64)

    /// Something went wrong that no client is told: what a handler threw, a field that cannot be sent.
    func failed(_ request: HTTPRequest, _ problem: any Error)
}

/// The part of a server that is about errors: how one looks on the wire.
public protocol HTTPErrorRenderer: Sendable {
    /// The answer to what a handler threw, or to what the server itself refuses with an `HTTPError`.
    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse
}

/// Errors as one line of text: what a server shows that was given nothing better.
public struct PlainErrorRenderer: HTTPErrorRenderer {
    /// Has nothing to be configured.
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
