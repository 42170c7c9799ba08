import API
import HTTPServer
import Sessions

/// `If-Match` and `If-None-Match`, RFC 9110, section 13.1, over services' entity tags.
enum Conditions {
    /// The condition of a write of a service, or of a journey.
    ///
    /// - Parameter ofJourney: whether the entity tag may name a language, which says nothing about the state.
    /// - Throws: `Problem` 400 `invalid_condition`.
    static func ofWrite(_ request: HTTPRequest, ofJourney: Bool = false) throws(Problem) -> WriteCondition {
        guard request.fields.contains(.ifMatch) || request.fields.contains(.ifNoneMatch) else { return .none }
        // RFC 9110, 13.1.1 and 13.1.2: If-Match compares strongly, If-None-Match weakly.
        return WriteCondition(
            ifMatch: try tags(request, .ifMatch, ofJourney: ofJourney),
            ifNoneMatch: try tags(request, .ifNoneMatch, isWeak: true, ofJourney: ofJourney))
    }

    /// Whether a GET gets 304: `If-None-Match`, compared weakly.
    static func isNotModified(_ request: HTTPRequest, _ current: ServiceETag) throws(Problem) -> Bool {
        let count = request.fields.count(of: .ifNoneMatch)
        if count == 0 { return false }
        // The usual case: one tag, as the server sent it.
        var isCurrent = false
        request.fields.withValue(of: .ifNoneMatch) { isCurrent = current.isWritten($0) }
        if count == 1, isCurrent { return true }
        return try isNotModified(request) { ServiceETag(opaque: $0) == current }
    }

    /// Whether a GET of something other than a service's state gets 304.
    /// - Parameter current: the whole entity tag, with its quotes.
    static func isNotModified(_ request: HTTPRequest, _ current: String) throws(Problem) -> Bool {
        if case .one(let tag) = request.fields.only(.ifNoneMatch), tag.elementsEqual(current.utf8) { return true }
        return try isNotModified(request) { "\"\($0)\"" == current }
    }

    private static func isNotModified(
        _ request: HTTPRequest, _ isCurrent: (_ opaque: String) -> Bool
    ) throws(Problem) -> Bool {
        switch try EntityTagList(request, .ifNoneMatch, { opaque, _ in isCurrent(opaque) ? opaque : nil }) {
        case nil: false
        case .any: true
        case .oneOf(let matching): !matching.isEmpty
        }
    }

    /// Checks `If-Match` of a GET of a service, which is rare.
    static func checkRead(_ request: HTTPRequest, service: String, _ current: ServiceETag) throws {
        if try isOtherVersion(request, current) {
            throw SessionError.preconditionFailed(service: service, current: current)
        }
    }

    /// Checks `If-Match` of a GET of a journey.
    static func checkRead(_ request: HTTPRequest, journey current: ServiceETag) throws {
        if try isOtherVersion(request, current, ofJourney: true) {
            throw JourneyError.preconditionFailed(current: current)
        }
    }

    /// Whether `If-Match` is there and does not name the current version.
    private static func isOtherVersion(
        _ request: HTTPRequest, _ current: ServiceETag, ofJourney: Bool = false
    ) throws(Problem) -> Bool {
        guard request.fields.contains(.ifMatch),
            case .oneOf(let tags) = try tags(request, .ifMatch, ofJourney: ofJourney)
        else { return false }
        return !tags.contains(current)
    }

    private static func tags(
        _ request: HTTPRequest, _ name: HTTPFieldName, isWeak: Bool = false, ofJourney: Bool = false
    ) throws(Problem) -> WriteCondition.Match? {
        // RFC 9110, 8.8.3.2: a weak tag never matches If-Match. Tags that no service can have are left out.
        let list = try EntityTagList(request, name) { opaque, weak in
            !weak || isWeak ? ServiceETag(opaque: ofJourney ? opaque.prefix { $0 != "-" } : opaque[...]) : nil
        }
        return switch list {
        case nil: nil
        case .any: .any
        case .oneOf(let tags): .oneOf(tags)
        }
    }
}

/// The value of `If-Match` or `If-None-Match`: `*`, or a list of entity tags (RFC 9110, sections 8.8.3 and 13.1).
enum EntityTagList<Tag> {
    case any
    /// The tags that can match; empty if none can.
    case oneOf([Tag])

    /// - Parameter tag: converts the text between the quotes of a tag, which may be weak; returns `nil` to leave the
    ///   tag out.
    /// - Returns: `nil` when there is no such field.
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
