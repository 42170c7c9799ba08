import API
import HTTPServer
import JSONDocument
import Sessions

extension HTTPResponse {
    /// JSON about a session, which no cache may keep.
    static func json(_ status: HTTPStatus = .ok, bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(status, fields: HTTPFields(.state), body: bytes)
    }

    static func json(_ status: HTTPStatus = .ok, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        write(&json)
        json.endObject()
        return .json(status, bytes: json.bytes)
    }

    /// A page of a list.
    static func page<Item>(_ page: ListPage<Item>, item: (inout JSONWriter, Item) -> Void) -> HTTPResponse {
        .json { $0.page(page, item: item) }
    }

    /// 204 without a body.
    static var done: HTTPResponse {
        var response = HTTPResponse(.noContent)
        response.fields.add(.cacheControl, "no-store")
        return response
    }
}

extension HTTPResponse {
    /// The state of a service, or the view of a journey, with its version as the entity tag.
    /// - Parameter bytes: also for a 304, whose header has their length (RFC 9110, section 8.6).
    static func state(_ status: HTTPStatus, _ bytes: consuming [UInt8], _ etag: ServiceETag) -> HTTPResponse {
        var response = HTTPResponse(
            status, fields: HTTPFields(status == .notModified ? .unmodifiedState : .state), body: bytes)
        response.fields.add(entityTag: etag.revision)
        return response
    }
}

extension HTTPFixedFields {
    /// The fields of every state.
    static let state = HTTPFixedFields([
        .contentType: MediaType.json, .cacheControl: "no-store", .contentSecurityPolicy: ContentPolicy.data,
    ])
    /// The fields of a write whose client prefers no body.
    static let minimizedState = HTTPFixedFields([.cacheControl: "no-store", .preferenceApplied: "return=minimal"])
    fileprivate static let unmodifiedState = HTTPFixedFields([.cacheControl: "no-store"])
}

extension HTTPResponse {
    /// Replaces the id in a replayed problem by that of the current request, so that `request_id` equals the response's
    /// `Request-Id`. Other responses stay as they are.
    mutating func nameInProblem(_ requestID: String) {
        guard fields[.contentType] == Problem.mediaType else { return }
        // Strings of a problem cannot contain these bytes: a quotation mark in a string follows a backslash.
        let member = Array("\"request_id\":\"".utf8)
        let quote = UInt8(ascii: "\"")
        for place in body.indices where body[place] == quote && body[place...].starts(with: member) {
            let start = place + member.count
            guard let end = body[start...].firstIndex(of: quote) else { return }
            body.replaceSubrange(start..<end, with: requestID.utf8)
            return
        }
    }
}

extension HTTPFieldName {
    static let prefer = HTTPFieldName("Prefer")
    static let preferenceApplied = HTTPFieldName("Preference-Applied")
}

extension HTTPRequest {
    /// Whether the client prefers no body: `Prefer: return=minimal`, RFC 7240, section 4.2.
    private var prefersMinimal: Bool {
        guard fields.contains(.prefer) else { return false }
        // The usual case.
        var isPlain = false
        fields.withValue(of: .prefer) { isPlain = $0.isExactly("return=minimal") }
        if isPlain { return true }
        return fields.values(of: .prefer).contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { preference in
                let name = preference.split(separator: UInt8(ascii: ";")).first ?? preference[...]
                // A value may be a token or the same in quotes.
                return ["return=minimal", "return=\"minimal\""].contains { ArraySlice(name).trimmed.equals($0) }
            }
        }
    }

    /// The response, without its body if the client prefers that.
    func minimized(_ response: consuming HTTPResponse) -> HTTPResponse {
        guard response.status == .ok, prefersMinimal else { return consume response }
        response.status = .noContent
        response.body = []
        if !response.fields.replace(.state, with: .minimizedState) {
            response.fields[.contentType] = nil
            response.fields.add(.preferenceApplied, "return=minimal")
        }
        return response
    }
}
