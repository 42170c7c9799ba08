/// A moment or a day as RFC 3339 writes it, to add durations to: `2026-01-31T09:05:07+01:00`, `2026-01-31`.
package struct CalendarTime: Sendable, Equatable {
    /// Milliseconds since 1970, by the clock of the place where the time was written.
    private var local: Int64
    /// How many milliseconds that clock is ahead of UTC; nil for a day.
    private let offset: Int64?
    /// Whether the second is a 60th, which ``local`` counts as the first of the next minute.
    private var isLeapSecond = false
    /// The digits of the second behind the milliseconds, without zeros at the end.
    private var finer: [UInt8] = []

    private static let day: Int64 = 86_400_000

    /// Nil for anything else.
    package init?(_ text: String) {
        // Guards compare texts of all kinds: most are told apart here, without a copy.
        guard text.utf8.count >= 10, text.utf8.dropFirst(4).first == UInt8(ascii: "-") else { return nil }
        let bytes = Array(text.utf8)
        func number(_ start: Int, _ length: Int) -> Int64? {
            guard start + length <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[start..<start + length] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        func has(_ text: StaticString, at place: Int) -> Bool {
            guard place < bytes.count else { return false }
            return text.withUTF8Buffer { $0.contains(bytes[place] & (bytes[place] >= 0x41 ? 0xDF : 0xFF)) }
        }
        guard let year = number(0, 4), has("-", at: 4), let month = number(5, 2), has("-", at: 7),
            let dayOfMonth = number(8, 2), (1...12).contains(month),
            (1...daysOfMonth(year, month)).contains(dayOfMonth)
        else { return nil }
        let midnight = daysSince1970(year, month, dayOfMonth) * Self.day
        if bytes.count == 10 {
            (local, offset) = (midnight, nil)
            return
        }
        guard has("T", at: 10), let hour = number(11, 2), has(":", at: 13), let minute = number(14, 2),
            has(":", at: 16), let second = number(17, 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        var milliseconds = ((hour * 60 + minute) * 60 + second) * 1000
        var place = 19
        if has(".", at: place) {
            var unit: Int64 = 100
            place += 1
            guard number(place, 1) != nil else { return nil }
            while let digit = number(place, 1) {
                milliseconds += digit * unit
                if unit == 0 { finer.append(bytes[place]) }
                unit /= 10
                place += 1
            }
            while finer.last == UInt8(ascii: "0") { finer.removeLast() }
        }
        local = midnight + milliseconds
        isLeapSecond = second == 60
        if has("Z", at: place), place + 1 == bytes.count {
            offset = 0
        } else {
            guard has("+-", at: place), let hours = number(place + 1, 2), has(":", at: place + 3),
                let minutes = number(place + 4, 2), hours < 24, minutes < 60, place + 6 == bytes.count
            else { return nil }
            offset = (hours * 60 + minutes) * 60_000 * (bytes[place] == UInt8(ascii: "-") ? -1 : 1)
        }
        // Seconds are inserted at the end of a day in UTC (RFC 3339, section 5.7).
        guard !isLeapSecond || (0..<1_000).contains(floorDivision(utc, Self.day).remainder) else { return nil }
    }

    /// Whether it is a day, without a time.
    package var isDay: Bool { offset == nil }

    /// Milliseconds since 1970 in UTC; of a day, those of its beginning.
    private var utc: Int64 { local - (offset ?? 0) }

    /// The time after a duration: first its months, where the day is at most the last one of the month, then the rest.
    ///
    /// Nil when the year would have more than four digits, or when a part of a day is added to a day.
    package func adding(_ duration: CalendarDuration) -> CalendarTime? {
        if offset == nil, duration.milliseconds != 0 { return nil }
        let longest: Int64 = 10_000 * 366 * Self.day
        guard abs(duration.months) <= 120_000, abs(duration.days) <= 3_660_000, abs(duration.milliseconds) <= longest
        else { return nil }
        let (days, time) = floorDivision(local, Self.day)
        let (year, month, dayOfMonth) = civil(days)
        let (newYear, newMonth) = floorDivision(year * 12 + month - 1 + duration.months, 12)
        let newDay = min(dayOfMonth, daysOfMonth(newYear, newMonth + 1))
        var result = self
        (result.isLeapSecond, result.finer) = (false, [])
        result.local =
            (daysSince1970(newYear, newMonth + 1, newDay) + duration.days) * Self.day + time + duration.milliseconds
        let (year1, _, _) = civil(floorDivision(result.local - (offset ?? 0), Self.day).quotient)
        return (0...9999).contains(year1) ? result : nil
    }

    /// The moment; of a day, its beginning in UTC.
    package var moment: Timestamp { Timestamp(millisecondsSince1970: utc) }

    /// A moment in UTC with milliseconds, as ``Timestamp`` writes it; a day as a day.
    package var text: String { offset == nil ? String(moment.description.prefix(10)) : moment.description }
}

/// Comparing, and counting days.
extension CalendarTime {
    /// How two times stand to each other: negative when the first is earlier, 0 when both are one. Two moments are
    /// compared by what they are in UTC, to the last digit; a moment and a day as days, the moment's day being that in
    /// UTC.
    package static func order(_ one: CalendarTime, _ other: CalendarTime) -> Int {
        guard !one.isDay, !other.isDay else { return compare(one.day, other.day) }
        let (a, b) = (one.instant, other.instant)
        let order = compare(a.second, b.second)
        if order != 0 { return order }
        if one.isLeapSecond != other.isLeapSecond { return other.isLeapSecond ? -1 : 1 }
        if a.millisecond != b.millisecond { return compare(a.millisecond, b.millisecond) }
        if one.finer == other.finer { return 0 }
        return one.finer.lexicographicallyPrecedes(other.finer) ? -1 : 1
    }

    private static func compare(_ one: Int64, _ other: Int64) -> Int { one < other ? -1 : one == other ? 0 : 1 }

    /// In UTC. A leap second is a part of the second before it.
    private var instant: (second: Int64, millisecond: Int64) {
        let (second, millisecond) = floorDivision(utc, 1_000)
        return (isLeapSecond ? second - 1 : second, millisecond)
    }

    /// The day in UTC, in days since 1970.
    private var day: Int64 { floorDivision(isLeapSecond ? utc - 1_000 : utc, Self.day).quotient }

    /// The day, by the clocks of a zone or in UTC; a day is that day everywhere.
    ///
    /// - Returns: nil when its year would not have four digits.
    package func day(in zone: CalendarZone?) -> CalendarTime? {
        guard !isDay else { return self }
        let (second, _) = instant
        let ahead = zone?.offset(at: second) ?? 0
        return CalendarTime(day: floorDivision(second + ahead, Self.day / 1_000).quotient)
    }

    private init?(day: Int64) {
        guard (0...9999).contains(civil(day).year) else { return nil }
        (local, offset) = (day * Self.day, nil)
    }

    /// The whole days from this time to another, negative when that is earlier: between two moments, periods of 24
    /// hours that have passed; with a day, days of the calendar, a moment's being that in UTC.
    package func days(to other: CalendarTime) -> Int {
        if isDay || other.isDay { return Int(other.day - day) }
        let isLater = Self.order(self, other) <= 0
        let (from, to) = isLater ? (self, other) : (other, self)
        var days = (to.utc - from.utc) / Self.day
        // A fraction of a millisecond may be missing to the last of them.
        if (to.utc - from.utc) % Self.day == 0, to.finer.lexicographicallyPrecedes(from.finer) { days -= 1 }
        return Int(isLater ? days : -days)
    }
}

private func daysOfMonth(_ year: Int64, _ month: Int64) -> Int64 {
    daysSince1970(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) - daysSince1970(year, month, 1)
}

func floorDivision(_ dividend: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

/// The day in the proleptic Gregorian calendar. Counts years from March, so that the leap day is a year's last, in
/// eras of 400 years, after which the calendar repeats.
func civil(_ daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let daysFromMarchOfYearZeroTo1970: Int64 = 719_468
    let daysPerEra: Int64 = 146_097
    let (era, dayOfEra) = floorDivision(daysSince1970 + daysFromMarchOfYearZeroTo1970, daysPerEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}

/// The inverse of `civil`: years begin in March.
func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
