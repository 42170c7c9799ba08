import Navigation

/// A journey as it is shown.
package struct ShownJourney: Sendable {
    /// Its times are as the wall clock calls them today.
    package let view: JourneyView
    /// The view as clients get it.
    package let text: JourneyText

    /// The session's, at which the view holds: it also shows documents of services.
    package var revision: UInt64 { text.revision }
    /// When the view may change by itself, in steady time: the journey expires, a screen's time is over, or a service
    /// comes to the end of its lifetime. Nil: never.
    package var dueAt: Int64? { text.dueAt }
}
