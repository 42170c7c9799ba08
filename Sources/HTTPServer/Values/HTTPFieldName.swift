import CMicroHTTPD
import Synchronization

/// The name of a header field: a token, compared without regard to case (RFC 9110, section 5.1).
///
/// Names are constants of the program, so their text is never freed. A string would be retained and released each time
/// that a request is asked for a field.
public struct HTTPFieldName: Sendable {
    /// The text; never written to, never freed.
    nonisolated(unsafe) let bytes: UnsafeBufferPointer<UInt8>
    /// Which well-known name it is; the bridge notes the places of these, see `cmhd_field_name`.
    let known: cmhd_field_name
    /// Whether only the transport may set it in a response.
    let isTransports: Bool

    /// - Precondition: `text` is a token. Names come from the program, not from outside.
    public init(_ text: String) {
        self = Self.madeBefore.withLock { names in
            if let name = names[text] { return name }
            let name = HTTPFieldName(keeping: text)
            names[text] = name
            return name
        }
    }

    /// Whether the text is a token (RFC 9110, section 5.6.2), so that a name can be made of it.
    package static func isValid(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isTokenByte) }

    /// The names that are not constants of this file, by their texts: each is made once.
    private static let madeBefore = Mutex<[String: HTTPFieldName]>([:])

    private init(keeping text: String) {
        precondition(Self.isValid(text), "\"\(text)\" is no field name")
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
        _ = copy.initialize(from: text.utf8)
        bytes = UnsafeBufferPointer(copy)
        known = cmhd_field_name_of(bytes.baseAddress, bytes.count)
        isTransports = ["connection", "content-length", "date", "transfer-encoding"].contains(text.lowercased())
    }

    private init(constant text: StaticString) {
        bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        known = cmhd_field_name_of(text.utf8Start, text.utf8CodeUnitCount)
        isTransports = false
    }

    /// As it is written in a response.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// `Accept`.
    public static let accept = HTTPFieldName(constant: "Accept")
    /// `Accept-Encoding`.
    public static let acceptEncoding = HTTPFieldName(constant: "Accept-Encoding")
    /// `Accept-Patch`.
    public static let acceptPatch = HTTPFieldName(constant: "Accept-Patch")
    /// `Allow`.
    public static let allow = HTTPFieldName(constant: "Allow")
    /// `Authorization`.
    public static let authorization = HTTPFieldName(constant: "Authorization")
    /// `Cache-Control`.
    public static let cacheControl = HTTPFieldName(constant: "Cache-Control")
    static let contentEncoding = HTTPFieldName(constant: "Content-Encoding")
    static let contentRange = HTTPFieldName(constant: "Content-Range")
    /// `Content-Type`.
    public static let contentType = HTTPFieldName(constant: "Content-Type")
    /// `Cookie`.
    public static let cookie = HTTPFieldName(constant: "Cookie")
    /// `ETag`.
    public static let etag = HTTPFieldName(constant: "ETag")
    static let forwardedPrefix = HTTPFieldName(constant: "X-Forwarded-Prefix")
    /// `Host`.
    public static let host = HTTPFieldName(constant: "Host")
    /// `If-Match`.
    public static let ifMatch = HTTPFieldName(constant: "If-Match")
    /// `If-None-Match`.
    public static let ifNoneMatch = HTTPFieldName(constant: "If-None-Match")
    /// `Location`.
    public static let location = HTTPFieldName(constant: "Location")
    /// `Origin`.
    public static let origin = HTTPFieldName(constant: "Origin")
    /// `Request-Id`.
    public static let requestID = HTTPFieldName(constant: "Request-Id")
    /// `Session-Token`.
    public static let sessionToken = HTTPFieldName(constant: "Session-Token")
    /// `Retry-After`.
    public static let retryAfter = HTTPFieldName(constant: "Retry-After")
    /// `Set-Cookie`.
    public static let setCookie = HTTPFieldName(constant: "Set-Cookie")
    /// `Vary`.
    public static let vary = HTTPFieldName(constant: "Vary")
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate = HTTPFieldName(constant: "WWW-Authenticate")

    /// Whether these bytes are this name.
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard other.count == bytes.count else { return false }
        var difference: UInt8 = 0
        for index in bytes.indices { difference |= bytes[index].lowercasedASCII ^ other[index].lowercasedASCII }
        return difference == 0
    }
}

extension HTTPFieldName: Hashable {
    public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
        guard left.known == right.known else { return false }
        return left.known != CMHD_FIELD_OTHER || left.isSame(as: UnsafeRawBufferPointer(right.bytes))
    }

    public func hash(into hasher: inout Hasher) {
        for byte in bytes { hasher.combine(byte.lowercasedASCII) }
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
