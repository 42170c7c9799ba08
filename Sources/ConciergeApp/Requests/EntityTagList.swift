import API
import HTTPServer

/// The value of `If-Match` or `If-None-Match`: `*`, or a list of entity tags (RFC 9110, sections 8.8.3 and 13.1).
///
/// The server's own tags are all strong. Proxies that compress a response change its tag on the way to the client, and
/// pass the changed tag on when the client sends it back. Such a tag means the one that it was made of, in both fields:
/// the client has seen the state that the tag names, in whatever coding.
enum EntityTagList<Tag> {
    case any
    /// The tags that can match; empty if none can.
    case oneOf([Tag])

    /// - Parameter tag: converts the text between the quotes of a tag; returns `nil` to leave the tag out.
    /// - Returns: `nil` when there is no such field.
    /// - Throws: `Problem` 400 `invalid_condition`.
    init?(_ request: HTTPRequest, _ name: HTTPFieldName, _ tag: (_ opaque: String) -> Tag?) throws(Problem) {
        guard let first = request.fields.bytes(of: name) else { return nil }
        let lines = request.fields.count(of: name) == 1 ? nil : request.fields.values(of: name)
        let value = lines.map { ArraySlice($0.joined(separator: ",").utf8) } ?? first
        guard let list = Self(parsing: value, tag) else {
            let mistake = value.trimmed.isEmpty ? "is empty" : "is not a list of entity tags"
            throw Problem(.invalidCondition, "\(name.text) \(mistake).")
        }
        self = list
    }

    /// `entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE`, in a list with at least one.
    /// - Returns: `nil` for any other text.
    init?(parsing list: ArraySlice<UInt8>, _ tag: (_ opaque: String) -> Tag?) {
        if list.elementsEqual("*".utf8) {
            self = .any
            return
        }
        var tags: [Tag] = []
        var rest = list.trimmed
        var count = 0
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: ",") {
                rest = rest.dropFirst().trimmed
                continue
            }
            // nginx, HAProxy, Envoy and Cloudflare make the tag of a response that they compress weak.
            if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else {
                return nil
            }
            let opaque = String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
            if let tag = tag(opaque) ?? Self.uncompressed(opaque).flatMap(tag) { tags.append(tag) }
            count += 1
            rest = rest[(end + 1)...].trimmed
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
        guard count > 0 else { return nil }
        self = .oneOf(tags)
    }

    /// The tag without the coding that a proxy has added to it; `nil` where none has.
    ///
    /// Apache adds `-gzip`, Caddy `-gzip` or `-zstd`, Jetty `--gzip`, LiteSpeed `;gz` or `;br`.
    private static func uncompressed(_ opaque: String) -> String? {
        guard let separator = opaque.lastIndex(where: { $0 == "-" || $0 == ";" }),
            ["gzip", "gz", "br", "zstd", "deflate"].contains(opaque[opaque.index(after: separator)...])
        else { return nil }
        let tag = opaque[..<separator]
        return String(tag.hasSuffix("-") ? tag.dropLast() : tag)
    }
}
