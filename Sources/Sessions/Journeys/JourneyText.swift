import Navigation

/// A journey as it goes out, with what says how long it may.
package final class JourneyText: Sendable {
    package let journey: String
    package let bytes: [UInt8]
    /// The step, by which clients know what they have.
    package let etag: ServiceETag
    /// The session's revision that it shows.
    let revision: UInt64
    /// When it may look otherwise without anybody having written; nil: never.
    let dueAt: Int64?
    /// Whether the journey has looked so ever since its last step. The step is all that its entity tag tells, and a
    /// service that the screen shows may be written in between: who has the tag need not have seen that.
    package let isOnlyFormOfStep: Bool

    init(
        journey: String, bytes: [UInt8], etag: ServiceETag, revision: UInt64, dueAt: Int64?, isOnlyFormOfStep: Bool
    ) {
        self.journey = journey
        self.bytes = bytes
        self.etag = etag
        self.revision = revision
        self.dueAt = dueAt
        self.isOnlyFormOfStep = isOnlyFormOfStep
    }

    /// The same, with what is known from how the journey looked before.
    func following(_ former: JourneyText?) -> JourneyText {
        guard !isOnlyFormOfStep, let former, former.isOnlyFormOfStep, former.etag == etag, former.bytes == bytes else {
            return self
        }
        return JourneyText(
            journey: journey, bytes: bytes, etag: etag, revision: revision, dueAt: dueAt, isOnlyFormOfStep: true)
    }

    /// Whether that is the journey's id.
    func isOf(_ id: ArraySlice<UInt8>) -> Bool {
        journey.utf8.count == id.count && journey.utf8.elementsEqual(id)
    }
}
