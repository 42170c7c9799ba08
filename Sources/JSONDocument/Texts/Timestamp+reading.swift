extension Timestamp {
    /// Reads exactly the form that ``description`` writes; nil for anything else, also for other forms of RFC 3339.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.length else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let millisecond = number(20..<23), (1...12).contains(month)
        else { return nil }
        let days = daysSince1970(year, month, day)
        let moment = Timestamp(
            millisecondsSince1970: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + millisecond)
        // A day that the month does not have, an hour 24 and the like make another text.
        guard moment.description == text else { return nil }
        self = moment
    }
}

/// The inverse of `civil`: years begin in March.
func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
