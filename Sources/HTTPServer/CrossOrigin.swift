/// Web pages of other origins that may call the server: Fetch Standard, section 3.3 (CORS).
public struct CrossOrigin: Sendable {
    /// Their pages may send cookies.
    public var allowedOrigins: WebOrigins
    /// The fields that their pages may send, besides those that any page may.
    public var requestFields: [HTTPFieldName]
    /// The fields of responses that their pages may read, besides those that any page may.
    public var responseFields: [HTTPFieldName]
    /// For how long a browser may keep the response to a preflight.
    public var maxAge = Duration.seconds(600)

    /// Allows these origins.
    public init(
        allowedOrigins: WebOrigins, requestFields: [HTTPFieldName] = [], responseFields: [HTTPFieldName] = []
    ) {
        self.allowedOrigins = allowedOrigins
        self.requestFields = requestFields
        self.responseFields = responseFields
    }
}

/// ``CrossOrigin`` in the form in which responses need it.
struct CrossOriginFields: Sendable {
    /// Added to every response: caches must not give the response for one origin to another.
    let common: HTTPFields
    /// Added to each response for an allowed origin, with the origin itself.
    private let permission: HTTPFields
    private let preflight: HTTPFields
    private let allowed: WebOrigins

    init(_ settings: CrossOrigin) {
        allowed = settings.allowedOrigins
        common = [.vary: HTTPFieldName.origin.text]
        var permission = common
        permission.add("Access-Control-Allow-Credentials", "true")
        if !settings.responseFields.isEmpty {
            permission.add(
                "Access-Control-Expose-Headers", settings.responseFields.map(\.text).joined(separator: ", "))
        }
        self.permission = permission
        var preflight: HTTPFields = ["Access-Control-Max-Age": "\(settings.maxAge.components.seconds)"]
        if !settings.requestFields.isEmpty {
            preflight.add(
                "Access-Control-Allow-Headers", settings.requestFields.map(\.text).joined(separator: ", "))
        }
        self.preflight = preflight
    }

    var isWellFormed: Bool { permission.isWellFormed && preflight.isWellFormed }

    /// The fields for the request's origin; nil when that is not allowed, or there is none.
    func fields(for request: HTTPRequest) -> HTTPFields? {
        guard request.fields.contains(.origin), case .one(let origin) = request.fields.only(.origin),
            allowed.contains(origin)
        else { return nil }
        var fields = permission
        fields.add("Access-Control-Allow-Origin", String(decoding: origin, as: UTF8.self))
        return fields
    }

    /// Adds what a browser asks for before it sends the request itself.
    func answerPreflight(_ request: HTTPRequest, allow: String, in response: inout HTTPResponse) {
        guard request.fields.contains("Access-Control-Request-Method"), fields(for: request) != nil else { return }
        response.fields.add("Access-Control-Allow-Methods", allow)
        response.fields.add(contentsOf: preflight)
    }
}
