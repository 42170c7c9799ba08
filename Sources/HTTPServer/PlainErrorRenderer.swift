/// Errors as one line of text: what a server shows that was given nothing better.
public struct PlainErrorRenderer: HTTPErrorRenderer {
    public init() {}

    public func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        guard let error = error as? HTTPError else {
            return HTTPResponse(.internalServerError, text: "Something went wrong.\n")
        }
        var response = HTTPResponse(error.status, text: error.detail + "\n")
        response.fields.add(contentsOf: error.fields)
        return response
    }
}
