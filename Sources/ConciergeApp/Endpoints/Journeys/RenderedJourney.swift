import HTTPServer
import Sessions

/// A journey as it goes out, with what says how long it may.
final class RenderedJourney: Sendable {
    let bytes: [UInt8]
    let etag: ServiceETag
    /// The session's revision that it shows.
    let revision: UInt64
    /// When it may look otherwise without anybody having written; nil: never.
    let dueAt: Int64?
    /// Whether the journey has looked so ever since its last step. The step is all that its entity tag tells, and a
    /// service that the screen shows may be written in between: who has the tag need not have seen that.
    let isOnlyFormOfStep: Bool

    /// - Parameter isRestless: whether what it shows depends on the time.
    convenience init(_ shown: ShownJourney, isRestless: Bool) {
        self.init(
            bytes: shown.view.json, etag: ServiceETag(revision: shown.view.step), revision: shown.revision,
            dueAt: shown.dueAt, isOnlyFormOfStep: shown.isAsMoved && !isRestless)
    }

    private init(bytes: [UInt8], etag: ServiceETag, revision: UInt64, dueAt: Int64?, isOnlyFormOfStep: Bool) {
        self.bytes = bytes
        self.etag = etag
        self.revision = revision
        self.dueAt = dueAt
        self.isOnlyFormOfStep = isOnlyFormOfStep
    }

    /// The same, with what is known from how the journey looked before.
    func following(_ former: RenderedJourney) -> RenderedJourney {
        guard !isOnlyFormOfStep, former.isOnlyFormOfStep, former.etag == etag, former.bytes == bytes else {
            return self
        }
        return RenderedJourney(bytes: bytes, etag: etag, revision: revision, dueAt: dueAt, isOnlyFormOfStep: true)
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
