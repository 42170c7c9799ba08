import API
import HTTPServer
import Sessions
import Synchronization

/// Bytes that never change while the server runs, as an answer: with an entity tag that is made of them, so that it
/// also holds over a restart.
struct Representation: Sendable {
    let mediaType: String
    let bytes: [UInt8]
    /// With its quotes.
    let etag: String
    private let policy: String

    /// - Parameter policy: its `Content-Security-Policy`.
    init(_ mediaType: String, _ bytes: [UInt8], policy: String = ContentPolicy.data) {
        self.policy = policy
        self.mediaType = mediaType
        self.bytes = bytes
        etag = "\"\(SHA256Digest(of: bytes).text(ofFirst: 16))\""
    }

    /// 200, or 304 where the client has it.
    ///
    /// `no-cache` lets it be kept and asks to look each time whether it still holds.
    /// - Parameter names: the fields of the request that decide which form of it the client gets.
    func answer(to request: HTTPRequest, varying names: [HTTPFieldName] = []) throws(Problem) -> HTTPResponse {
        let isKnown = try Conditions.isNotModified(request, etag)
        // The head of a 304 has the length of the body that it stands for (RFC 9110, section 8.6): Squid takes it for
        // the length of what it has stored.
        var response = HTTPResponse(isKnown ? .notModified : .ok, body: bytes)
        if !isKnown { response.fields.add(.contentType, mediaType) }
        // No window that another site has opened may reach into the page.
        if mediaType.hasPrefix("text/html") { response.fields.add("Cross-Origin-Opener-Policy", "same-origin") }
        response.fields.add(.etag, etag)
        response.fields.add(.cacheControl, "no-cache")
        response.fields.add(.contentSecurityPolicy, policy)
        if !names.isEmpty { response.fields.add(.vary, names.map(\.text).joined(separator: ", ")) }
        return response
    }
}

/// A representation that is made at its first request, because most servers start without anybody asking for it.
final class LazyRepresentation: Sendable {
    private let make: @Sendable () -> Representation
    private let made = Mutex<Representation?>(nil)

    init(_ make: @escaping @Sendable () -> Representation) { self.make = make }

    /// Two first requests at once may both make it: the lock is not held meanwhile.
    var value: Representation {
        if let known = made.withLock({ $0 }) { return known }
        let new = make()
        made.withLock { $0 = new }
        return new
    }
}
