import CDeflate
import Synchronization

/// The coding `gzip` (RFC 1952) of responses.
package enum Gzip {
    /// What was compressed of bodies that stay, by entity tag. They are files of the program and of its configuration,
    /// of which there are few.
    private static let lasting = Mutex<[String: [UInt8]]>([:])
    private static let mostLasting = 64

    /// The same, compressed once for a body of which its tag says what is in it.
    fileprivate static func compressed(_ bytes: [UInt8], tagged tag: String) -> [UInt8] {
        if let known = lasting.withLock({ $0[tag] }) { return known }
        let result = compressed(bytes)
        lasting.withLock { if $0.count < mostLasting { $0[tag] = result } }
        return result
    }

    package static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        // The quickest level.
        guard let compressor = libdeflate_alloc_compressor(1) else { preconditionFailure("no memory to compress") }
        defer { libdeflate_free_compressor(compressor) }
        return [UInt8](unsafeUninitializedCapacity: libdeflate_gzip_compress_bound(compressor, bytes.count)) {
            $1 = libdeflate_gzip_compress(compressor, bytes, bytes.count, $0.baseAddress, $0.count)
        }
    }
}

extension HTTPRequestFields {
    /// Whether the client names `gzip`, or any coding, in `Accept-Encoding` without a quality of 0 (RFC 9110, section
    /// 12.5.3). Without the field any coding would do as well, but many clients that do not send it cannot decode one.
    fileprivate var acceptsGzip: Bool {
        var named: Bool?
        var any = false
        for item in values(of: .acceptEncoding).flatMap({ $0.split(separator: ",") }) {
            let parts = item.split(separator: ";", omittingEmptySubsequences: false).map { part in
                part.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            // A malformed quality counts as 0.
            let isAccepted = quality.map { Double($0) ?? 0 > 0 } ?? true
            switch parts[0] {
            case "gzip", "x-gzip": named = isAccepted
            case "*": any = isAccepted
            default: break
            }
        }
        return named ?? any
    }
}

/// Which responses are compressed: those to GET and HEAD, which are the only ones that can be long.
///
/// Compressing tells the length of what is compressed, and so whether two parts of it are alike (the attack BREACH).
/// That is of use where a response has a secret together with something that the attacker made the client send. Tokens
/// and links are in responses to POST alone, and no response to GET repeats anything of the request, but the base path,
/// which no page can make a browser send.
extension HTTPResponse {
    /// Shorter responses fit in one packet as they are.
    static let leastBytesToCompress = 1_024
    /// Compressing as many bytes takes about 0.3 ms, more than a worker should spend on one response.
    private static let mostBytesAtOnce = 65_536

    /// Whether what the client accepts decides on it.
    private func varies(for request: HTTPRequest) -> Bool {
        body.count >= Self.leastBytesToCompress && request.method.isSafe && fields[.contentEncoding] == nil
            && (status == .ok || status == .notModified)
    }

    /// A 304 that caches may use has the length of the 200 that it stands for. For a state's, which none keeps,
    /// compressing would be too dear.
    private var isWorthCompressing: Bool { status == .ok || fields[.cacheControl] != "no-store" }

    /// Whether it has to be compressed, and that takes longer than a worker should spend on one response.
    func isLongToCompress(for request: HTTPRequest) -> Bool {
        body.count > Self.mostBytesAtOnce && varies(for: request) && isWorthCompressing && request.fields.acceptsGzip
    }

    /// The response in the coding that the client accepts.
    ///
    /// Its entity tag stays the same: it names a state, which clients send back with their writes, in whatever coding
    /// they saw it.
    consuming func encoded(for request: HTTPRequest) -> HTTPResponse {
        guard varies(for: request) else { return self }
        fields.add(.vary, HTTPFieldName.acceptEncoding.text)
        if isWorthCompressing, request.fields.acceptsGzip {
            // Of what caches may keep, the tag is a digest of the body.
            let tag = fields[.cacheControl] == "no-cache" ? fields[.etag] : nil
            body = tag.map { Gzip.compressed(body, tagged: $0) } ?? Gzip.compressed(body)
            fields.add(.contentEncoding, "gzip")
        }
        return self
    }
}
