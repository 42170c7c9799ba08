import Navigation

/// A journey as it is shown.
package struct ShownJourney: Sendable {
    /// The view as clients get it, with times of the wall clock.
    package let text: JourneyText

    /// The view as values, read from the text.
    package var view: JourneyView { JourneyView(json: text.bytes) }

    /// The session's, at which the view holds: it also shows documents of services.
    package var revision: UInt64 { text.revision }
    /// When the view may change by itself, in steady time: the journey expires, a screen's time is over, or a service
    /// comes to the end of its lifetime. Nil: never.
    package var dueAt: Int64? { text.dueAt }
}
