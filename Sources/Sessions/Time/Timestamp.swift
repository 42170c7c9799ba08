/// A moment as the wall clock calls it, shown as RFC 3339 in UTC with milliseconds: `2026-01-31T09:05:07.250Z`.
package struct Timestamp: Sendable, Hashable, Comparable {
    package let millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}

extension Timestamp: CustomStringConvertible {
    package var description: String {
        let (days, milliseconds) = floorDivision(millisecondsSince1970, 86_400_000)
        let (year, month, day) = civil(days)
        let seconds = milliseconds / 1_000
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
            + ".\(padded(milliseconds % 1_000, 3))Z"
    }
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

private func floorDivision(_ dividend: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

/// The day in the proleptic Gregorian calendar. Counts years from March, so that the leap day is a year's last, in
/// eras of 400 years, after which the calendar repeats.
private func civil(_ daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
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
