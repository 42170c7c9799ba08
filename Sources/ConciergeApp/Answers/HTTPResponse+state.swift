import HTTPServer
import Sessions

extension HTTPResponse {
    /// A service's state, or a journey as it is shown, with its version as the entity tag.
    /// - Parameter bytes: also of a 304, which says how long the state is (RFC 9110, section 8.6).
    static func state(_ status: HTTPStatus, _ bytes: consuming [UInt8], _ etag: ServiceETag) -> HTTPResponse {
        var response = HTTPResponse(
            status, fields: HTTPFields(status == .notModified ? .unmodifiedState : .state), body: bytes)
        response.fields.add(entityTag: etag.revision)
        return response
    }
}

extension HTTPFixedFields {
    /// What every state is sent with.
    static let state = HTTPFixedFields([.contentType: RequestBody.json, .cacheControl: "no-store"])
    /// The same where the client prefers no body.
    static let minimizedState = HTTPFixedFields([.cacheControl: "no-store", .preferenceApplied: "return=minimal"])
    fileprivate static let unmodifiedState = HTTPFixedFields([.cacheControl: "no-store"])
}
