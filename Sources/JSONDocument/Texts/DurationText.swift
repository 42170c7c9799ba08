/// Durations as people write them: `250ms`, `90s`, `30m`, `12h`, `7d`, or ISO 8601 (`PT30M`, `P7D`, `PT0.25S`).
package enum DurationText {
    /// Nil when the text has neither form, or the duration is too long to count in milliseconds.
    ///
    /// ISO 8601 years and months are refused: how long they are depends on when they begin.
    package static func parse(_ text: String) -> Duration? {
        guard text.utf8.count <= 32 else { return nil }
        let milliseconds = text.utf8.first == UInt8(ascii: "P") ? isoMilliseconds(text) : shortMilliseconds(text)
        return milliseconds.map { Duration.milliseconds($0) }
    }

    /// The shortest text for a duration, without ISO 8601, precise to the millisecond.
    package static func format(_ duration: Duration) -> String {
        let parts = duration.components
        let milliseconds = parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
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

    private static let shortUnits: [Substring: Int64] = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]

    private static func shortMilliseconds(_ text: String) -> Int64? {
        let digits = text.prefix { isDigit($0) }
        guard let count = Int64(digits), let unit = shortUnits[text.dropFirst(digits.count)] else { return nil }
        return product(count, unit)
    }

    /// Designators in the standard's order, of the date before `T` and of the time after it.
    private static let dateUnits: [(Character, Int64)] = [("W", 604_800_000), ("D", 86_400_000)]
    private static let timeUnits: [(Character, Int64)] = [("H", 3_600_000), ("M", 60_000), ("S", 1000)]

    private static func isoMilliseconds(_ text: String) -> Int64? {
        let halves = text.dropFirst().split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        guard let date = isoSum(halves[0], dateUnits) else { return nil }
        if halves.count == 1 { return halves[0].isEmpty ? nil : date }
        guard !halves[1].isEmpty, let time = isoSum(halves[1], timeUnits) else { return nil }
        let (sum, overflow) = date.addingReportingOverflow(time)
        return overflow ? nil : sum
    }

    private static func isoSum(_ text: Substring, _ units: [(Character, Int64)]) -> Int64? {
        var rest = text
        var remaining = units[...]
        var sum: Int64 = 0
        while !rest.isEmpty {
            let number = rest.prefix { isDigit($0) || $0 == "." || $0 == "," }
            rest = rest.dropFirst(number.count)
            guard let designator = rest.first,
                let index = remaining.firstIndex(where: { $0.0 == designator }),
                let amount = isoAmount(number, unit: remaining[index].1, fraction: designator == "S")
            else { return nil }
            remaining = remaining[(index + 1)...]
            rest = rest.dropFirst()
            let (next, overflow) = sum.addingReportingOverflow(amount)
            if overflow { return nil }
            sum = next
        }
        return sum
    }

    private static func isoAmount(_ number: Substring, unit: Int64, fraction: Bool) -> Int64? {
        let parts = number.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        guard let whole = parts.first.flatMap({ Int64($0) }), let amount = product(whole, unit) else { return nil }
        if parts.count == 1 { return amount }
        // Only seconds may have a fraction, to the millisecond.
        guard fraction, parts.count == 2, (1...3).contains(parts[1].count), let thousandths = Int64(parts[1]) else {
            return nil
        }
        let scale: Int64 = [100, 10, 1][parts[1].count - 1]
        let (sum, overflow) = amount.addingReportingOverflow(thousandths * scale)
        return overflow ? nil : sum
    }

    private static func product(_ count: Int64, _ unit: Int64) -> Int64? {
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit)
        return overflow ? nil : milliseconds
    }

    private static func isDigit(_ character: Character) -> Bool {
        character.isASCII && character.isWholeNumber
    }
}
