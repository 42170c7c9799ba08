import HTTPServer
import Sessions

/// A journey as it goes out, with what says how long it may.
final class RenderedJourney: Sendable {
    /// Longer ones are not worth their place in a memory that holds some thousands.
    static let mostKeptBytes = 4 << 10

    let bytes: [UInt8]
    let etag: ServiceETag
    /// The session's revision that it shows.
    let revision: UInt64
    /// When it may look otherwise without anybody having written; nil: never.
    let dueAt: Int64?
    /// Whether the journey has looked so ever since its last step. The step is all that its entity tag tells, and a
    /// service that the screen shows may be written in between: who has the tag need not have seen that.
    let isOnlyFormOfStep: Bool
    /// Of a long one, which is told from others by this.
    private let digest: String?

    /// - Parameter isRestless: whether what it shows depends on the time.
    convenience init(_ shown: ShownJourney, isRestless: Bool) {
        let bytes = shown.view.json
        self.init(
            bytes: bytes, etag: ServiceETag(revision: shown.view.step), revision: shown.revision,
            dueAt: shown.dueAt, isOnlyFormOfStep: shown.isAsMoved && !isRestless,
            digest: bytes.count > Self.mostKeptBytes ? Representation.tag(of: bytes) : nil)
    }

    private init(
        bytes: [UInt8], etag: ServiceETag, revision: UInt64, dueAt: Int64?, isOnlyFormOfStep: Bool, digest: String?
    ) {
        self.bytes = bytes
        self.etag = etag
        self.revision = revision
        self.dueAt = dueAt
        self.isOnlyFormOfStep = isOnlyFormOfStep
        self.digest = digest
    }

    /// Whether it can be given out again when it has been kept.
    var keepsItsBytes: Bool { digest == nil }

    /// As it is kept: a long one without its bytes.
    var kept: RenderedJourney { keepsItsBytes ? self : copy(bytes: [], isOnlyFormOfStep: isOnlyFormOfStep) }

    /// The same, with what is known from how the journey looked at another time.
    func knowing(_ other: RenderedJourney) -> RenderedJourney {
        guard other.etag == etag else { return self }
        let isOnlyForm = other.isOnlyFormOfStep && looksLike(other)
        return isOnlyForm == isOnlyFormOfStep ? self : copy(bytes: bytes, isOnlyFormOfStep: isOnlyForm)
    }

    /// The same, when the journey was shown differently at an earlier time that is heard of only now.
    func hearing(of other: RenderedJourney) -> RenderedJourney {
        guard other.etag == etag, isOnlyFormOfStep, !looksLike(other) else { return self }
        return copy(bytes: bytes, isOnlyFormOfStep: false)
    }

    private func looksLike(_ other: RenderedJourney) -> Bool {
        digest == other.digest && (digest != nil || bytes == other.bytes)
    }

    private func copy(bytes: [UInt8], isOnlyFormOfStep: Bool) -> RenderedJourney {
        RenderedJourney(
            bytes: bytes, etag: etag, revision: revision, dueAt: dueAt, isOnlyFormOfStep: isOnlyFormOfStep,
            digest: digest)
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
