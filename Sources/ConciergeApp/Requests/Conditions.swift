import HTTPServer
import Sessions

/// `If-Match` and `If-None-Match`, RFC 9110, section 13.1, over services' entity tags.
enum Conditions {
    /// The condition of a write of a service, or of what is done to a journey: both have a number for an entity tag.
    /// - Throws: `Problem` 400 `invalid_condition`.
    static func ofWrite(_ request: HTTPRequest) throws(Problem) -> WriteCondition {
        var condition = WriteCondition.none
        guard request.fields.contains(.ifMatch) || request.fields.contains(.ifNoneMatch) else { return condition }
        if let list = try tags(request, .ifMatch) { condition.ifMatch = list }
        switch try tags(request, .ifNoneMatch) {
        case nil: break
        case .any: condition.onlyIfNew = true
        case .oneOf:
            throw Problem(.invalidCondition, "If-None-Match of a write can only be *.")
        }
        return condition
    }

    /// Whether a GET need not send what the client has: `If-None-Match`, compared weakly.
    static func isNotModified(_ request: HTTPRequest, _ current: ServiceETag) throws(Problem) -> Bool {
        let count = request.fields.count(of: .ifNoneMatch)
        if count == 0 { return false }
        // What nearly every client sends: the one tag that it was given.
        var isCurrent = false
        request.fields.lend(.ifNoneMatch) { isCurrent = current.isWritten($0) }
        if count == 1, isCurrent { return true }
        return switch try tags(request, .ifNoneMatch, isWeak: true) {
        case nil: false
        case .any: true
        case .oneOf(let tags): tags.contains(current)
        }
    }

    /// Whether a GET may be answered at all: `If-Match`, which is rare on reads.
    static func checkRead(_ request: HTTPRequest, service: String, _ current: ServiceETag) throws {
        guard request.fields.contains(.ifMatch) else { return }
        guard case .oneOf(let tags) = try tags(request, .ifMatch), !tags.contains(current) else { return }
        throw SessionError.preconditionFailed(service: service, current: current)
    }

    /// Whether a GET of something that is no service's state need not send what the client has.
    /// - Parameter current: the whole entity tag, with its quotes.
    static func isNotModified(_ request: HTTPRequest, _ current: String) throws(Problem) -> Bool {
        if case .one(let tag) = request.fields.only(.ifNoneMatch), tag.elementsEqual(current.utf8) { return true }
        let list = try EntityTagList(request, .ifNoneMatch) { opaque, _ in "\"\(opaque)\"" == current ? opaque : nil }
        return switch list {
        case nil: false
        case .any: true
        case .oneOf(let matching): !matching.isEmpty
        }
    }

    /// Whether a GET of a journey may be answered at all.
    static func checkRead(_ request: HTTPRequest, journey current: ServiceETag) throws {
        guard request.fields.contains(.ifMatch) else { return }
        guard case .oneOf(let tags) = try tags(request, .ifMatch), !tags.contains(current) else { return }
        throw JourneyError.preconditionFailed(current: current.revision)
    }

    private static func tags(
        _ request: HTTPRequest, _ name: HTTPFieldName, isWeak: Bool = false
    ) throws(Problem) -> WriteCondition.Match? {
        // RFC 9110, 8.8.3.2: for If-Match a weak tag never matches. Tags that no service ever had are left out.
        let list = try EntityTagList(request, name) { opaque, weak in
            !weak || isWeak ? ServiceETag(opaque: opaque) : nil
        }
        return switch list {
        case nil: nil
        case .any: .any
        case .oneOf(let tags): .oneOf(tags)
        }
    }
}
