/// Web pages of other origins that may call the server: Fetch Standard, section 3.3 (CORS).
public struct CrossOrigin: Sendable {
    /// Exact origins, as browsers send them. Their pages may send cookies.
    public var allowedOrigins: [String]
    /// The fields that their pages may send, besides those that any page may.
    public var requestFields: [HTTPFieldName]
    /// The fields of responses that their pages may read, besides those that any page may.
    public var responseFields: [HTTPFieldName]
    /// For how long a browser may keep the response to a preflight.
    public var maxAge = Duration.seconds(600)

    /// Allows these origins.
    public init(
        allowedOrigins: [String], requestFields: [HTTPFieldName] = [], responseFields: [HTTPFieldName] = []
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
    /// Added to each response for an allowed origin.
    private let byOrigin: [ArraySlice<UInt8>: HTTPFields]
    private let preflight: HTTPFields

    init(_ settings: CrossOrigin) {
        let common: HTTPFields = [.vary: HTTPFieldName.origin.text]
        self.common = common
        let exposed = settings.responseFields.map(\.text).joined(separator: ", ")
        let pairs = settings.allowedOrigins.map { origin in
            var fields = common
            fields.add("Access-Control-Allow-Origin", origin)
            fields.add("Access-Control-Allow-Credentials", "true")
            if !exposed.isEmpty { fields.add("Access-Control-Expose-Headers", exposed) }
            return (ArraySlice(origin.utf8), fields)
        }
        byOrigin = Dictionary(pairs) { first, _ in first }
        var preflight: HTTPFields = ["Access-Control-Max-Age": "\(settings.maxAge.components.seconds)"]
        if !settings.requestFields.isEmpty {
            preflight.add(
                "Access-Control-Allow-Headers", settings.requestFields.map(\.text).joined(separator: ", "))
        }
        self.preflight = preflight
    }

    var all: [HTTPFields] { Array(byOrigin.values) }

    /// The fields for the request's origin; nil when that is not allowed, or there is none.
    func fields(for request: HTTPRequest) -> HTTPFields? {
        guard request.fields.contains(.origin), case .one(let origin) = request.fields.only(.origin) else { return nil }
        return byOrigin[origin]
    }

    /// Adds what a browser asks for before it sends the request itself.
    func answerPreflight(_ request: HTTPRequest, allow: String, in response: inout HTTPResponse) {
        guard request.fields.contains("Access-Control-Request-Method"), fields(for: request) != nil else { return }
        response.fields.add("Access-Control-Allow-Methods", allow)
        response.fields.add(contentsOf: preflight)
    }
}
