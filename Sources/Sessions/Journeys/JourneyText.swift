import Glibc
import Navigation

/// A journey as it goes out, with what says how long it may.
package final class JourneyText: Sendable {
    package let journey: String
    package let bytes: [UInt8]
    /// Changes with everything that the text shows.
    package let etag: ServiceETag
    /// The session's revision that it shows.
    let revision: UInt64
    /// When it may look otherwise without anybody having written; nil: never.
    package let dueAt: Int64?
    /// Why the journey cannot go on; nil for one that can.
    package let problem: JourneyRefusal?

    /// Longer ones are not remembered.
    static let mostRememberedBytes = 4 << 10

    init(
        journey: String, bytes: [UInt8], etag: ServiceETag, revision: UInt64, dueAt: Int64?,
        problem: JourneyRefusal? = nil
    ) {
        self.journey = journey
        self.bytes = bytes
        self.etag = etag
        self.revision = revision
        self.dueAt = dueAt
        self.problem = problem
    }

    /// Whether that is the journey's id.
    func isOf(_ id: UnsafeRawBufferPointer) -> Bool {
        journey.utf8.span.withUnsafeBytes { own in
            guard own.count == id.count, let bytes = own.baseAddress, let others = id.baseAddress else { return false }
            return memcmp(bytes, others, own.count) == 0
        }
    }
}
