import JSONDocument

/// A field of an answer. Its raw value is its name, also among the components.
enum APIHeader: String, Sendable, CaseIterable {
    case requestID = "Request-Id"
    case etag = "ETag"
    case vary = "Vary"
    case location = "Location"
    case setCookie = "Set-Cookie"
    case preferenceApplied = "Preference-Applied"
    case idempotencyReplayed = "Idempotency-Replayed"
    case retryAfter = "Retry-After"
    case wwwAuthenticate = "WWW-Authenticate"
    case allow = "Allow"
    case acceptPatch = "Accept-Patch"
    case acceptEncoding = "Accept-Encoding"

    private var description: String {
        switch self {
        case .requestID: "The client's own name for the request when it sent a usable one, else the server's."
        case .etag:
            "The version. Of a service the session's revision at the state's last write, `\"0\"` for one never written; "
                + "of a journey its step; of a flow or its graph a text that stands for these very bytes."
        case .vary: "`Accept`: other media types are other answers."
        case .location: "The path of what was made."
        case .setCookie: "The session cookie, in cookie mode."
        case .preferenceApplied: "The preference that was followed."
        case .idempotencyReplayed: "`true` when this answer was given before."
        case .retryAfter: "Seconds to wait before the next try."
        case .wwwAuthenticate: "`Bearer`."
        case .allow: "The methods that are possible here."
        case .acceptPatch: "The media types that a PATCH may have."
        case .acceptEncoding: "`identity`, when the body had a `Content-Encoding`."
        }
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("description", description)
        json.name("schema")
        json.document(["type": self == .retryAfter ? "integer" : "string"])
        json.endObject()
    }
}
