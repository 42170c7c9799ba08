import HTTPServer
import JSONDocument
import Sessions

/// A journey as it goes out, with what says how long it may.
final class RenderedJourney: Sendable {
    let bytes: [UInt8]
    let etag: ServiceETag
    /// The session's revision that it shows.
    let revision: UInt64
    /// When it may look otherwise without anybody having written; nil: never.
    let dueAt: Int64?

    init(_ shown: ShownJourney) {
        var json = JSONWriter(reservingCapacity: 1_024)
        json.journey(shown)
        bytes = json.bytes
        etag = ServiceETag(revision: shown.view.step)
        revision = shown.revision
        dueAt = shown.dueAt
    }
}

extension HTTPResponse {
    /// A journey with its step as the entity tag.
    static func journey(_ status: HTTPStatus, _ bytes: [UInt8], _ etag: ServiceETag) -> HTTPResponse {
        var response = HTTPResponse(status, body: bytes)
        if status != .notModified { response.fields.add(.contentType, RequestBody.json) }
        response.fields.add(.etag, etag.description)
        response.fields.add(.cacheControl, "no-store")
        return response
    }
}
