import Navigation

/// A journey as it is shown, and how long it may be shown so.
package struct ShownJourney: Sendable {
    /// Its times are as the wall clock calls them today.
    package let view: JourneyView
    /// The session's, at which the view holds: it also shows documents of services.
    package let revision: UInt64
    /// When the view may change by itself, in steady time: the journey expires, a screen's time is over, or a service
    /// comes to the end of its lifetime. Nil: never. See ``Session/stillHolds(revision:dueAt:)``.
    package let dueAt: Int64?
    /// Whether it is sure to look as it did right after its last step. The step is the journey's entity tag, but the
    /// documents that a screen shows can be written without one.
    package let isAsMoved: Bool
}
