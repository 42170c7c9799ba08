/// The rule of a time zone for all years to come, as POSIX writes it in `TZ`: `CET-1CEST,M3.5.0,M10.5.0/3` (RFC 8536,
/// section 3.3.1).
struct YearlyZoneRule {
    /// Seconds ahead of UTC.
    private let standard: Int64
    private let summer: (ahead: Int64, from: Day, to: Day)?

    /// A day of each year, and a time on it by the clocks of before.
    fileprivate struct Day {
        enum Kind {
            /// From 1 to 365; 29 February does not count.
            case counted(Int64)
            /// From 0 to 365.
            case fromZero(Int64)
            /// The nth weekday of a month, 0 being Sunday; the fifth is the last.
            case weekday(month: Int64, week: Int64, day: Int64)
        }

        let kind: Kind
        let seconds: Int64
    }

    /// Nil for what is no such rule.
    init?(_ text: String) {
        var rest = Substring(text)
        guard Self.takeName(&rest), let west = Self.takeTime(&rest, hours: 24) else { return nil }
        standard = -west
        if rest.isEmpty {
            summer = nil
            return
        }
        guard Self.takeName(&rest) else { return nil }
        var ahead = standard + 3_600
        if rest.first != "," {
            guard let west = Self.takeTime(&rest, hours: 24) else { return nil }
            ahead = -west
        }
        guard let from = Self.takeDay(&rest), let to = Self.takeDay(&rest), rest.isEmpty else { return nil }
        summer = (ahead, from, to)
    }

    /// - Parameter moment: in seconds since 1970.
    func offset(at moment: Int64) -> Int64 {
        guard let summer else { return standard }
        let year = civil(floorDivision(moment + standard, 86_400).quotient).year
        let start = summer.from.moment(in: year) - standard
        let end = summer.to.moment(in: year) - summer.ahead
        let isSummer = start < end ? (start..<end).contains(moment) : !(end..<start).contains(moment)
        return isSummer ? summer.ahead : standard
    }

    // MARK: - Reading

    /// Letters, or anything in angle brackets.
    private static func takeName(_ rest: inout Substring) -> Bool {
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let name = rest.prefix { $0.isLetter }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    private static func takeNumber(_ rest: inout Substring, _ range: ClosedRange<Int64>) -> Int64? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(digits.count)
        return digits.count <= 3 ? Int64(digits).flatMap { range.contains($0) ? $0 : nil } : nil
    }

    private static func take(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    private static func takeTime(_ rest: inout Substring, hours most: Int64) -> Int64? {
        let isNegative = take("-", &rest)
        if !isNegative { _ = take("+", &rest) }
        guard var seconds = takeNumber(&rest, 0...most).map({ $0 * 3_600 }) else { return nil }
        for unit: Int64 in [60, 1] where take(":", &rest) {
            guard let part = takeNumber(&rest, 0...59) else { return nil }
            seconds += part * unit
        }
        return isNegative ? -seconds : seconds
    }

    private static func takeDay(_ rest: inout Substring) -> Day? {
        guard take(",", &rest) else { return nil }
        let kind: Day.Kind
        if take("M", &rest) {
            guard let month = takeNumber(&rest, 1...12), take(".", &rest), let week = takeNumber(&rest, 1...5),
                take(".", &rest), let day = takeNumber(&rest, 0...6)
            else { return nil }
            kind = .weekday(month: month, week: week, day: day)
        } else if take("J", &rest) {
            guard let day = takeNumber(&rest, 1...365) else { return nil }
            kind = .counted(day)
        } else {
            guard let day = takeNumber(&rest, 0...365) else { return nil }
            kind = .fromZero(day)
        }
        guard take("/", &rest) else { return Day(kind: kind, seconds: 7_200) }
        return takeTime(&rest, hours: 167).map { Day(kind: kind, seconds: $0) }
    }
}

extension YearlyZoneRule.Day {
    /// In seconds since 1970, by the clocks of before.
    fileprivate func moment(in year: Int64) -> Int64 { day(in: year) * 86_400 + seconds }

    private func day(in year: Int64) -> Int64 {
        switch kind {
        case .fromZero(let day): return daysSince1970(year, 1, 1) + day
        case .counted(let day):
            let isLong = daysSince1970(year, 3, 1) - daysSince1970(year, 2, 1) == 29
            return daysSince1970(year, 1, 1) + day - 1 + (isLong && day >= 60 ? 1 : 0)
        case .weekday(let month, let week, let day):
            let first = daysSince1970(year, month, 1)
            // 1 January 1970 was a Thursday.
            let ahead = floorDivision(day - floorDivision(first + 4, 7).remainder, 7).remainder
            let next = month == 12 ? daysSince1970(year + 1, 1, 1) : daysSince1970(year, month + 1, 1)
            let found = first + ahead + 7 * (week - 1)
            return found < next ? found : found - 7
        }
    }
}
