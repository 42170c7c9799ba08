import Glibc

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

extension HTTPMethod {
    /// One byte for each known method, so that comparing costs nothing.
    enum Code: UInt8, Sendable {
        case get, head, post, put, patch, delete, options, trace, connect, other
    }

    var code: Code {
        switch self {
        case .get: .get
        case .head: .head
        case .post: .post
        case .put: .put
        case .patch: .patch
        case .delete: .delete
        case .options: .options
        case .trace: .trace
        case .connect: .connect
        case .other: .other
        }
    }

    /// From the wire. A known method needs no string.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        switch bytes.count {
        case 3 where Self.isSame(bytes, "GET"): self = .get
        case 3 where Self.isSame(bytes, "PUT"): self = .put
        case 4 where Self.isSame(bytes, "POST"): self = .post
        case 5 where Self.isSame(bytes, "PATCH"): self = .patch
        case 6 where Self.isSame(bytes, "DELETE"): self = .delete
        default: self.init(String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func isSame(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
        guard let base = bytes.baseAddress else { return false }
        return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
