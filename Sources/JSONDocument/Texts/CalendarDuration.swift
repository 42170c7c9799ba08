/// A duration by the calendar, as ISO 8601 writes it: `P18Y`, `-P1M`, `P1Y2M3DT4H`. Months and years have no length of
/// their own, so they are kept apart.
package struct CalendarDuration: Sendable, Equatable {
    package let months: Int64
    package let days: Int64
    package let milliseconds: Int64

    /// Units in the standard's order, of the date before `T` and of the time after it.
    private static let dateUnits: [(Character, Int64)] = [("Y", 12), ("M", 1), ("W", 7), ("D", 1)]
    private static let timeUnits: [(Character, Int64)] = [("H", 3_600_000), ("M", 60_000), ("S", 1000)]

    private static let shortUnits: [Substring: Int64] = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]

    private init(months: Int64, days: Int64, milliseconds: Int64) {
        self.months = months
        self.days = days
        self.milliseconds = milliseconds
    }

    /// Reads a sign, too, in front of either form.
    package init?(signed text: String) {
        let isSigned = text.hasPrefix("-") || text.hasPrefix("+")
        guard let bare = CalendarDuration(isSigned ? String(text.dropFirst()) : text) else { return nil }
        let factor: Int64 = text.hasPrefix("-") ? -1 : 1
        self.init(months: bare.months * factor, days: bare.days * factor, milliseconds: bare.milliseconds * factor)
    }

    /// Reads ISO 8601 and the short form (`30m`), whose days have 24 hours, without a sign; nil for anything else, and
    /// for what is too long to count.
    package init?(_ text: String) {
        guard text.utf8.count <= 32 else { return nil }
        guard text.utf8.first == UInt8(ascii: "P") else {
            let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
            guard let unit = Self.shortUnits[text.dropFirst(digits.count)],
                let milliseconds = Self.amount(digits, unit: unit, fraction: false)
            else { return nil }
            self.init(months: 0, days: 0, milliseconds: milliseconds)
            return
        }
        let halves = text.dropFirst().split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        var sums: [Int64] = [0, 0, 0]
        func add(_ half: Substring, _ units: [(Character, Int64)], to place: (Int) -> Int) -> Bool {
            var rest = half
            var next = 0
            while !rest.isEmpty {
                let number = rest.prefix { ($0.isASCII && $0.isWholeNumber) || $0 == "." || $0 == "," }
                rest = rest.dropFirst(number.count)
                guard let designator = rest.first,
                    let unit = units.indices.first(where: { $0 >= next && units[$0].0 == designator }),
                    let amount = Self.amount(number, unit: units[unit].1, fraction: designator == "S")
                else { return false }
                let (sum, overflow) = sums[place(unit)].addingReportingOverflow(amount)
                if overflow { return false }
                sums[place(unit)] = sum
                next = unit + 1
                rest = rest.dropFirst()
            }
            return true
        }
        guard let date = halves.first, add(date, Self.dateUnits, to: { $0 < 2 ? 0 : 1 }) else { return nil }
        if halves.count == 1 {
            if date.isEmpty { return nil }
        } else if halves[1].isEmpty || !add(halves[1], Self.timeUnits, to: { _ in 2 }) {
            return nil
        }
        self.init(months: sums[0], days: sums[1], milliseconds: sums[2])
    }

    private static func amount(_ number: Substring, unit: Int64, fraction: Bool) -> Int64? {
        let parts = number.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        guard let whole = parts.first.flatMap({ Int64($0) }) else { return nil }
        let (amount, overflow) = whole.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        if parts.count == 1 { return amount }
        // Only seconds may have a fraction, to the millisecond.
        guard fraction, parts.count == 2, (1...3).contains(parts[1].count), let thousandths = Int64(parts[1]) else {
            return nil
        }
        let (sum, isTooLong) = amount.addingReportingOverflow(thousandths * [100, 10, 1][parts[1].count - 1])
        return isTooLong ? nil : sum
    }
}
