/// A request method, RFC 9110, section 9. Case matters: `get` is not `GET`.
public enum HTTPMethod: Hashable, Sendable {
    /// The methods of RFC 9110, and PATCH of RFC 5789.
    case get, head, post, put, patch, delete, options, trace, connect
    /// Any other method, by its name.
    case other(String)

    /// The method with that name. Names are case-sensitive (RFC 9110, section 9.1).
    public init(_ text: String) {
        switch text {
        case "GET": self = .get
        case "HEAD": self = .head
        case "POST": self = .post
        case "PUT": self = .put
        case "PATCH": self = .patch
        case "DELETE": self = .delete
        case "OPTIONS": self = .options
        case "TRACE": self = .trace
        case "CONNECT": self = .connect
        default: self = .other(text)
        }
    }

    /// Whether it only reads, RFC 9110, section 9.2.1.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }
}

extension HTTPMethod: CustomStringConvertible {
    public var description: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .connect: "CONNECT"
        case .other(let text): text
        }
    }
}
