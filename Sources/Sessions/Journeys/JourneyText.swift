import Glibc
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
    /// Of a long one, which is told from others by this.
    private let digest: Int?

    /// Longer ones are remembered without their bytes.
    static let mostRememberedBytes = 4 << 10

    convenience init(
        journey: String, bytes: [UInt8], etag: ServiceETag, revision: UInt64, dueAt: Int64?, isOnlyFormOfStep: Bool
    ) {
        var digest: Int?
        if bytes.count > Self.mostRememberedBytes {
            var hasher = Hasher()
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            digest = hasher.finalize()
        }
        self.init(
            journey: journey, bytes: bytes, etag: etag, revision: revision, dueAt: dueAt,
            isOnlyFormOfStep: isOnlyFormOfStep, digest: digest)
    }

    private init(
        journey: String, bytes: [UInt8], etag: ServiceETag, revision: UInt64, dueAt: Int64?, isOnlyFormOfStep: Bool,
        digest: Int?
    ) {
        self.journey = journey
        self.bytes = bytes
        self.etag = etag
        self.revision = revision
        self.dueAt = dueAt
        self.isOnlyFormOfStep = isOnlyFormOfStep
        self.digest = digest
    }

    /// Whether it can be given out again when it has been remembered.
    var keepsItsBytes: Bool { digest == nil }

    /// As it is remembered: a long one without its bytes.
    var remembered: JourneyText { keepsItsBytes ? self : copy(bytes: [], isOnlyFormOfStep: isOnlyFormOfStep) }

    /// The same, with what is known from how the journey looked at another time.
    func knowing(_ other: JourneyText?) -> JourneyText {
        guard let other, other.etag == etag else { return self }
        let isOnlyForm = other.isOnlyFormOfStep && looksLike(other)
        return isOnlyForm == isOnlyFormOfStep ? self : copy(bytes: bytes, isOnlyFormOfStep: isOnlyForm)
    }

    /// The same, when the journey was shown differently at an earlier time that is heard of only now.
    func hearing(of other: JourneyText?) -> JourneyText {
        guard let other, other.etag == etag, isOnlyFormOfStep, !looksLike(other) else { return self }
        return copy(bytes: bytes, isOnlyFormOfStep: false)
    }

    private func looksLike(_ other: JourneyText) -> Bool {
        digest == other.digest && (digest != nil || bytes == other.bytes)
    }

    private func copy(bytes: [UInt8], isOnlyFormOfStep: Bool) -> JourneyText {
        JourneyText(
            journey: journey, bytes: bytes, etag: etag, revision: revision, dueAt: dueAt,
            isOnlyFormOfStep: isOnlyFormOfStep, digest: digest)
    }

    /// Whether that is the journey's id.
    func isOf(_ id: UnsafeRawBufferPointer) -> Bool {
        journey.utf8.span.withUnsafeBytes { own in
            guard own.count == id.count, let bytes = own.baseAddress, let others = id.baseAddress else { return false }
            return memcmp(bytes, others, own.count) == 0
        }
    }
}
