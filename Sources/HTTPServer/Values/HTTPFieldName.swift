import CMicroHTTPD

/// The name of a header field: a token, compared without regard to case (RFC 9110, section 5.1).
public struct HTTPFieldName: Sendable {
    /// As it is written in an answer.
    public let text: String
    /// Tells it from most others, see `cmhd_field_tag`.
    let tag: UInt32
    /// Whether the transport alone may set it in an answer.
    let isTransports: Bool

    /// - Precondition: `text` is a token. Names come from the program, not from outside.
    public init(_ text: String) {
        precondition(!text.isEmpty && text.utf8.allSatisfy(\.isTokenByte), "\"\(text)\" is no field name")
        self.text = text
        var copy = text
        tag = copy.withUTF8 { cmhd_field_tag($0.baseAddress, UInt32($0.count)) }
        isTransports = ["connection", "content-length", "date", "transfer-encoding"].contains(text.lowercased())
    }

    public static let accept = HTTPFieldName("Accept")
    public static let acceptPatch = HTTPFieldName("Accept-Patch")
    public static let allow = HTTPFieldName("Allow")
    public static let authorization = HTTPFieldName("Authorization")
    public static let cacheControl = HTTPFieldName("Cache-Control")
    public static let contentType = HTTPFieldName("Content-Type")
    public static let cookie = HTTPFieldName("Cookie")
    public static let etag = HTTPFieldName("ETag")
    public static let host = HTTPFieldName("Host")
    public static let ifMatch = HTTPFieldName("If-Match")
    public static let ifNoneMatch = HTTPFieldName("If-None-Match")
    public static let location = HTTPFieldName("Location")
    public static let origin = HTTPFieldName("Origin")
    public static let requestID = HTTPFieldName("Request-Id")
    public static let retryAfter = HTTPFieldName("Retry-After")
    public static let setCookie = HTTPFieldName("Set-Cookie")
    public static let wwwAuthenticate = HTTPFieldName("WWW-Authenticate")
}

extension HTTPFieldName: Hashable {
    public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
        left.tag == right.tag && left.isSame(as: right.text.utf8)
    }

    func isSame(as other: some Collection<UInt8>) -> Bool {
        text.utf8.count == other.count && zip(text.utf8, other).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte.lowercasedASCII) }
    }
}

extension HTTPFieldName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension UInt8 {
    var lowercasedASCII: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

    /// RFC 9110, section 5.6.2.
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
