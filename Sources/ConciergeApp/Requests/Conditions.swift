import HTTPServer
import Sessions

/// `If-Match` and `If-None-Match`, RFC 9110, section 13.1, over services' entity tags.
enum Conditions {
    /// The condition of a write.
    /// - Throws: `Problem` 400 `invalid_condition`.
    static func ofWrite(_ request: HTTPRequest) throws(Problem) -> ServiceCondition {
        var condition = ServiceCondition.none
        if let list = try tags(request, .ifMatch) { condition.ifMatch = list }
        switch try tags(request, .ifNoneMatch) {
        case nil: break
        case .any: condition.onlyIfUnwritten = true
        case .oneOf:
            throw Problem(.invalidCondition, "If-None-Match of a write can only be *.")
        }
        return condition
    }

    /// Whether a GET need not send what the client has: `If-None-Match`, compared weakly.
    static func isNotModified(_ request: HTTPRequest, _ current: ServiceETag) throws(Problem) -> Bool {
        switch request.fields.only(.ifNoneMatch) {
        case .none: return false
        // What nearly every client sends: the one tag that it was given.
        case .one(let tag) where tag.withUnsafeBytes(current.isWritten): return true
        default: break
        }
        return switch try tags(request, .ifNoneMatch, isWeak: true) {
        case nil: false
        case .any: true
        case .oneOf(let tags): tags.contains(current)
        }
    }

    /// Whether a GET may be answered at all: `If-Match`, which is rare on reads.
    static func checkRead(_ request: HTTPRequest, service: String, _ current: ServiceETag) throws {
        guard request.fields.bytes(of: .ifMatch) != nil else { return }
        guard case .oneOf(let tags) = try tags(request, .ifMatch), !tags.contains(current) else { return }
        throw SessionError.preconditionFailed(service: service, current: current)
    }

    private static func tags(
        _ request: HTTPRequest, _ name: HTTPFieldName, isWeak: Bool = false
    ) throws(Problem) -> ServiceCondition.Match? {
        guard let first = request.fields.bytes(of: name) else { return nil }
        let lines = request.fields.count(of: name) == 1 ? nil : request.fields.values(of: name)
        let value = lines.map { ArraySlice($0.joined(separator: ",").utf8) } ?? first
        if value.elementsEqual("*".utf8) { return .any }
        return .oneOf(try parse(value, name, isWeak: isWeak))
    }

    /// `entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE`, in a list. Tags that no service ever had are left out.
    private static func parse(
        _ list: ArraySlice<UInt8>, _ name: HTTPFieldName, isWeak: Bool
    ) throws(Problem) -> [ServiceETag] {
        var tags: [ServiceETag] = []
        var rest = list.trimmed
        var count = 0
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: ",") {
                rest = rest.dropFirst().trimmed
                continue
            }
            let weak = rest.starts(with: "W/".utf8)
            if weak { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else {
                throw Problem(.invalidCondition, "\(name.text) is not a list of entity tags.")
            }
            let opaque = String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
            // RFC 9110, 8.8.3.2: for If-Match a weak tag never matches.
            if !weak || isWeak, let tag = ServiceETag(opaque: opaque) { tags.append(tag) }
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
