/// Durations as people write them: `250ms`, `90s`, `30m`, `12h`, `7d`, or ISO 8601 (`PT30M`, `P7D`, `PT0.25S`).
package enum DurationText {
    /// Nil when the text has neither form, or the duration is too long to count in milliseconds.
    ///
    /// ISO 8601 years and months are refused: how long they are depends on when they begin.
    package static func parse(_ text: String) -> Duration? {
        guard let duration = CalendarDuration(text), duration.months == 0 else { return nil }
        let (days, overflow) = duration.days.multipliedReportingOverflow(by: 86_400_000)
        let (sum, isTooLong) = days.addingReportingOverflow(duration.milliseconds)
        return overflow || isTooLong ? nil : .milliseconds(sum)
    }

    /// The shortest text for a duration, without ISO 8601, precise to the millisecond.
    package static func format(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        if milliseconds == 0 { return "0s" }
        // "24h" and "60s" read better than "1d" and "1m".
        let units: [(name: String, length: Int64, least: Int64)] = [
            ("d", 86_400_000, 2), ("h", 3_600_000, 1), ("m", 60_000, 2), ("s", 1000, 1),
        ]
        for unit in units where milliseconds % unit.length == 0 && milliseconds / unit.length >= unit.least {
            return "\(milliseconds / unit.length)\(unit.name)"
        }
        return "\(milliseconds)ms"
    }

    /// Fits every duration that ``parse(_:)`` reads, and few other texts; for JSON Schemas.
    package static let pattern = "^([0-9]+(ms|s|m|h|d)|P[0-9A-Z.,]+)$"
}

extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension Int64 {
    /// A time some milliseconds later; `.max` where that is too late to count.
    package func later(by milliseconds: Int64) -> Int64 {
        let (time, isTooLate) = addingReportingOverflow(milliseconds)
        return isTooLate ? .max : time
    }
}
