import CCrypto
import HTTPServer

/// Bytes that never change while the server runs, as an answer: with an entity tag that is made of them, so that it
/// also holds over a restart.
struct Representation: Sendable {
    let mediaType: String
    let bytes: [UInt8]
    /// With its quotes.
    let etag: String

    init(_ mediaType: String, _ bytes: [UInt8]) {
        self.mediaType = mediaType
        self.bytes = bytes
        etag = Self.tag(of: bytes)
    }

    /// 200, or 304 where the client has it.
    ///
    /// `no-cache` lets it be kept and asks to look each time whether it still holds.
    /// - Parameter varies: whether the client might have got another form of it.
    func answer(to request: HTTPRequest, varies: Bool = false) throws(Problem) -> HTTPResponse {
        let isKnown = try Conditions.isNotModified(request, etag)
        var response = HTTPResponse(isKnown ? .notModified : .ok, body: isKnown ? [] : bytes)
        if !isKnown { response.fields.add(.contentType, mediaType) }
        response.fields.add(.etag, etag)
        response.fields.add(.cacheControl, "no-cache")
        if varies { response.fields.add(.vary, "Accept") }
        return response
    }

    /// Half of a SHA-256, in hexadecimal.
    static func tag(of bytes: [UInt8]) -> String {
        let digest = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
            _ = SHA256(bytes, bytes.count, digest.baseAddress)
            count = digest.count
        }
        let digits = Array("0123456789abcdef".utf8)
        let text = digest.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "\"\(String(decoding: text, as: UTF8.self))\""
    }
}

extension HTTPFieldName {
    static let vary = HTTPFieldName("Vary")
}
