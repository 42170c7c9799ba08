import HTTPServer

/// What `If-Match` or `If-None-Match` says: `*`, or a list of entity tags (RFC 9110, sections 8.8.3 and 13.1).
enum EntityTagList<Tag> {
    case any
    /// Those that can be one of what is asked for; none is left where the client has none of them.
    case oneOf([Tag])

    /// - Parameter tag: reads what stands between the quotes, and is told whether the tag is weak; nil leaves it out.
    /// - Returns: nil when there is no such field.
    /// - Throws: `Problem` 400 `invalid_condition`.
    init?(
        _ request: HTTPRequest, _ name: HTTPFieldName, _ tag: (_ opaque: String, _ isWeak: Bool) -> Tag?
    ) throws(Problem) {
        guard let first = request.fields.bytes(of: name) else { return nil }
        let lines = request.fields.count(of: name) == 1 ? nil : request.fields.values(of: name)
        let value = lines.map { ArraySlice($0.joined(separator: ",").utf8) } ?? first
        if value.elementsEqual("*".utf8) {
            self = .any
        } else {
            self = .oneOf(try Self.parse(value, name, tag))
        }
    }

    /// `entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE`, in a list.
    private static func parse(
        _ list: ArraySlice<UInt8>, _ name: HTTPFieldName, _ tag: (String, Bool) -> Tag?
    ) throws(Problem) -> [Tag] {
        var tags: [Tag] = []
        var rest = list.trimmed
        var count = 0
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: ",") {
                rest = rest.dropFirst().trimmed
                continue
            }
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else {
                throw Problem(.invalidCondition, "\(name.text) is not a list of entity tags.")
            }
            let opaque = String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
            if let tag = tag(opaque, isWeak) { tags.append(tag) }
            count += 1
            rest = rest[(end + 1)...].trimmed
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else {
                throw Problem(.invalidCondition, "\(name.text) is not a list of entity tags.")
            }
        }
        guard count > 0 else { throw Problem(.invalidCondition, "\(name.text) is empty.") }
        return tags
    }
}
