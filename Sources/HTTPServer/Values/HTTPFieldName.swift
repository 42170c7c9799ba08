import CMicroHTTPD

/// The name of a header field: a token, compared without regard to case (RFC 9110, section 5.1).
public struct HTTPFieldName: Sendable {
    /// As it is written in an answer.
    public let text: String
    /// Which of the names it is whose places the bridge notes in a request, see `cmhd_field_name`.
    let known: cmhd_field_name
    /// Whether the transport alone may set it in an answer.
    let isTransports: Bool

    /// - Precondition: `text` is a token. Names come from the program, not from outside.
    public init(_ text: String) {
        precondition(!text.isEmpty && text.utf8.allSatisfy(\.isTokenByte), "\"\(text)\" is no field name")
        var copy = text
        let known = copy.withUTF8 { cmhd_field_name_of($0.baseAddress, $0.count) }
        self.init(
            text, known,
            isTransports: ["connection", "content-length", "date", "transfer-encoding"].contains(text.lowercased()))
    }

    /// So little that the compiler does it: the names below need no code at the first use, and no look whether this
    /// is the first.
    private init(_ text: String, _ known: cmhd_field_name, isTransports: Bool = false) {
        self.text = text
        self.known = known
        self.isTransports = isTransports
    }

    public static let accept = HTTPFieldName("Accept", CMHD_FIELD_ACCEPT)
    public static let acceptPatch = HTTPFieldName("Accept-Patch", CMHD_FIELD_OTHER)
    public static let allow = HTTPFieldName("Allow", CMHD_FIELD_OTHER)
    public static let authorization = HTTPFieldName("Authorization", CMHD_FIELD_AUTHORIZATION)
    public static let cacheControl = HTTPFieldName("Cache-Control", CMHD_FIELD_OTHER)
    public static let contentType = HTTPFieldName("Content-Type", CMHD_FIELD_CONTENT_TYPE)
    public static let cookie = HTTPFieldName("Cookie", CMHD_FIELD_COOKIE)
    public static let etag = HTTPFieldName("ETag", CMHD_FIELD_OTHER)
    public static let host = HTTPFieldName("Host", CMHD_FIELD_HOST)
    public static let ifMatch = HTTPFieldName("If-Match", CMHD_FIELD_IF_MATCH)
    public static let ifNoneMatch = HTTPFieldName("If-None-Match", CMHD_FIELD_IF_NONE_MATCH)
    public static let location = HTTPFieldName("Location", CMHD_FIELD_OTHER)
    public static let origin = HTTPFieldName("Origin", CMHD_FIELD_ORIGIN)
    public static let requestID = HTTPFieldName("Request-Id", CMHD_FIELD_REQUEST_ID)
    public static let retryAfter = HTTPFieldName("Retry-After", CMHD_FIELD_OTHER)
    public static let setCookie = HTTPFieldName("Set-Cookie", CMHD_FIELD_OTHER)
    public static let wwwAuthenticate = HTTPFieldName("WWW-Authenticate", CMHD_FIELD_OTHER)

    static let named: [HTTPFieldName] = [
        accept, acceptPatch, allow, authorization, cacheControl, contentType, cookie, etag, host, ifMatch, ifNoneMatch,
        location, origin, requestID, retryAfter, setCookie, wwwAuthenticate,
    ]

    /// Whether these bytes are this name.
    func isSame(as bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == text.utf8.count else { return false }
        var difference: UInt8 = 0
        var index = 0
        for byte in text.utf8 {
            difference |= byte.lowercasedASCII ^ bytes[index].lowercasedASCII
            index += 1
        }
        return difference == 0
    }
}

extension HTTPFieldName: Hashable {
    public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
        guard left.known == right.known else { return false }
        var text = right.text
        return left.known != CMHD_FIELD_OTHER || text.withUTF8 { left.isSame(as: UnsafeRawBufferPointer($0)) }
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
