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
