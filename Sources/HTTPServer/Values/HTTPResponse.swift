/// A response: status, fields, and a body that is there as a whole or produced while it is sent.
///
/// The transport sets `Content-Length`, `Date` and `Connection`. A body with 204 or 304 is not sent.
public struct HTTPResponse: Sendable {
    /// The status of the status line.
    public var status: HTTPStatus
    /// The header fields, without those of the transport.
    public var fields: HTTPFields
    /// The whole body, unless ``source`` produces it.
    public var body: [UInt8]
    /// Produces the body in place of ``body``.
    public var source: HTTPBodySource?

    /// A response with a whole body.
    public init(_ status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response whose body is produced while it is sent.
    public init(_ status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields(), source: HTTPBodySource) {
        self.init(status, fields: fields)
        self.source = source
    }

    /// A plain text, UTF-8.
    public init(_ status: HTTPStatus = .ok, text: String) {
        self.init(status, fields: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }
}
