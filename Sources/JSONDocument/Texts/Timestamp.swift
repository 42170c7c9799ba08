/// A moment of the wall clock, written as RFC 3339 in UTC with milliseconds: `2026-01-31T09:05:07.250Z`.
package struct Timestamp: Sendable, Hashable, Comparable {
    package let millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// Reads exactly the form that ``description`` writes; nil for anything else, also for other forms of RFC 3339.
    package init?(_ text: String) {
        guard let moment = CalendarTime(text)?.moment, moment.description == text else { return nil }
        self = moment
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 has years of four digits: a moment beyond is shown as the first or the last one that can be written.
    package var description: String {
        String(unsafeUninitializedCapacity: Self.length) { buffer in
            write(into: UnsafeMutableRawBufferPointer(buffer))
            return Self.length
        }
    }

    /// The number of bytes of the text.
    package static let length = 24

    /// Writes the text without making a string.
    /// - Precondition: `buffer` has room for `length` bytes.
    package func write(into buffer: UnsafeMutableRawBufferPointer) {
        let shown = min(max(millisecondsSince1970, Self.first), Self.last)
        let (days, milliseconds) = floorDivision(shown, 86_400_000)
        let (year, month, day) = civil(days)
        // A small unsigned number divides faster.
        let time = UInt32(truncatingIfNeeded: milliseconds)
        let seconds = time / 1_000
        func put(_ number: UInt32, at place: Int) {
            buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
            buffer[place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
        }
        buffer.copyBytes(from: Self.template)
        put(UInt32(truncatingIfNeeded: year) / 100, at: 0)
        put(UInt32(truncatingIfNeeded: year) % 100, at: 2)
        put(UInt32(truncatingIfNeeded: month), at: 5)
        put(UInt32(truncatingIfNeeded: day), at: 8)
        put(seconds / 3_600, at: 11)
        put(seconds / 60 % 60, at: 14)
        put(seconds % 60, at: 17)
        put(time % 1_000 / 10, at: 20)
        buffer[22] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: time % 10)
    }

    private static let template = Array("0000-00-00T00:00:00.000Z".utf8)
    /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
    private static let first: Int64 = -62_167_219_200_000
    private static let last: Int64 = 253_402_300_799_999
}
