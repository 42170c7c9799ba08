/// A status code, RFC 9110, section 15.
public struct HTTPStatus: Hashable, Sendable {
    /// 100 to 599.
    public let code: UInt16

    /// The status with that code.
    public init(_ code: UInt16) {
        self.code = code
    }

    /// Asks for a body that the client holds back; never the status of a response.
    static let `continue` = HTTPStatus(100)
    /// 200 OK.
    public static let ok = HTTPStatus(200)
    /// 201 Created.
    public static let created = HTTPStatus(201)
    /// 202 Accepted.
    public static let accepted = HTTPStatus(202)
    /// 204 No Content.
    public static let noContent = HTTPStatus(204)
    /// 304 Not Modified.
    public static let notModified = HTTPStatus(304)
    /// 400 Bad Request.
    public static let badRequest = HTTPStatus(400)
    /// 401 Unauthorized.
    public static let unauthorized = HTTPStatus(401)
    /// 403 Forbidden.
    public static let forbidden = HTTPStatus(403)
    /// 404 Not Found.
    public static let notFound = HTTPStatus(404)
    /// 405 Method Not Allowed.
    public static let methodNotAllowed = HTTPStatus(405)
    /// 406 Not Acceptable.
    public static let notAcceptable = HTTPStatus(406)
    /// 409 Conflict.
    public static let conflict = HTTPStatus(409)
    /// 410 Gone.
    public static let gone = HTTPStatus(410)
    /// 412 Precondition Failed.
    public static let preconditionFailed = HTTPStatus(412)
    /// 413 Content Too Large.
    public static let contentTooLarge = HTTPStatus(413)
    /// 414 URI Too Long.
    public static let uriTooLong = HTTPStatus(414)
    /// 415 Unsupported Media Type.
    public static let unsupportedMediaType = HTTPStatus(415)
    /// 422 Unprocessable Content.
    public static let unprocessableContent = HTTPStatus(422)
    /// 428 Precondition Required.
    public static let preconditionRequired = HTTPStatus(428)
    /// 429 Too Many Requests.
    public static let tooManyRequests = HTTPStatus(429)
    /// 431 Request Header Fields Too Large.
    public static let requestHeaderFieldsTooLarge = HTTPStatus(431)
    /// 500 Internal Server Error.
    public static let internalServerError = HTTPStatus(500)
    /// 501 Not Implemented.
    public static let notImplemented = HTTPStatus(501)
    /// 503 Service Unavailable.
    public static let serviceUnavailable = HTTPStatus(503)
    /// 504 Gateway Timeout.
    public static let gatewayTimeout = HTTPStatus(504)
    /// 505 HTTP Version Not Supported.
    public static let httpVersionNotSupported = HTTPStatus(505)
    /// 507 Insufficient Storage.
    public static let insufficientStorage = HTTPStatus(507)
}
