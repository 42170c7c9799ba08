import Glibc
import Navigation

/// A journey as it is shown: the view as it is sent, with times of the wall clock.
package final class JourneyText: Sendable {
    package let journey: String
    /// The flow whose screen is on top.
    package let flow: String
    package let bytes: [UInt8]
    /// Changes with everything that the text shows.
    package let etag: ServiceETag
    /// The session's, at which the view holds: it also shows documents of services.
    package let revision: UInt64
    /// That of the documents of the process (``ProcessState/revision``).
    let processRevision: UInt64
    /// When the view may change by itself, in steady time: the journey expires, a screen's time is over, or a service
    /// comes to the end of its lifetime. Nil: never.
    package let dueAt: Int64?
    /// Why the journey cannot go on; nil for one that can.
    package let problem: JourneyRefusal?

    /// Longer ones are not remembered.
    static let mostRememberedBytes = 4 << 10

    init(
        of journey: Journey, bytes: [UInt8], etag: ServiceETag, revision: UInt64, processRevision: UInt64,
        dueAt: Int64?, problem: JourneyRefusal? = nil
    ) {
        self.journey = journey.id
        flow = journey.top.flatMap { journey.coordinator($0.coordinator)?.flow } ?? journey.flow
        self.bytes = bytes
        self.etag = etag
        self.revision = revision
        self.processRevision = processRevision
        self.dueAt = dueAt
        self.problem = problem
    }

    /// The view as values, read from the text.
    package var view: JourneyView { JourneyView(json: bytes) }

    /// Whether that is the journey's id.
    func isOf(_ id: UnsafeRawBufferPointer) -> Bool {
        journey.utf8.span.withUnsafeBytes { own in
            guard own.count == id.count, let bytes = own.baseAddress, let others = id.baseAddress else { return false }
            return memcmp(bytes, others, own.count) == 0
        }
    }
}
