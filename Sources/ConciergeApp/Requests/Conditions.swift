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
        return WriteCondition(
            ifMatch: try tags(request, .ifMatch, ofJourney: ofJourney),
            ifNoneMatch: try tags(request, .ifNoneMatch, ofJourney: ofJourney))
    }

    /// Whether a GET gets 304: `If-None-Match`.
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
        switch try EntityTagList(request, .ifNoneMatch, { isCurrent($0) ? $0 : nil }) {
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
        _ request: HTTPRequest, _ name: HTTPFieldName, ofJourney: Bool = false
    ) throws(Problem) -> WriteCondition.Match? {
        let list = try EntityTagList(request, name) { opaque in
            // Tags that no service can have are left out.
            ServiceETag(opaque: ofJourney ? opaque.prefix { $0 != "-" } : opaque[...])
        }
        return list.map(WriteCondition.Match.init)
    }
}

extension WriteCondition.Match {
    init(_ list: EntityTagList<ServiceETag>) {
        switch list {
        case .any: self = .any
        case .oneOf(let tags): self = .oneOf(tags)
        }
    }
}
