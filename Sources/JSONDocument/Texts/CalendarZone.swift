/// A time zone: how far its clocks are ahead of UTC at a moment. Read from a file in the format TZif (RFC 8536), as the
/// IANA time zone database is installed on every Linux.
///
/// Not `localtime` of the C library, which knows one zone for the whole process.
public final class CalendarZone: Sendable {
    /// In seconds since 1970: from when on the clocks are so many seconds ahead of UTC.
    private let changes: [(from: Int64, ahead: Int64)]
    /// Before the first change.
    private let atFirst: Int64
    /// After the last change.
    private let rule: YearlyZoneRule?

    /// Nil for what is no such file, and for one that counts leap seconds (`right/…`).
    package init?(tzif bytes: [UInt8]) {
        var file = ZoneFile(bytes)
        // The first block has times of 32 bits, for programs of before 2005.
        guard let old = file.header(), old.version >= UInt8(ascii: "2"), file.skip(old.length(ofTime: 4)),
            let header = file.header(), header.leapSeconds == 0, header.types > 0
        else { return nil }
        var times: [Int64] = []
        for _ in 0..<header.times {
            guard let time = file.number(8), times.last.map({ $0 < time }) ?? true else { return nil }
            times.append(time)
        }
        guard let kinds = file.bytes(header.times) else { return nil }
        var ahead: [Int64] = []
        for _ in 0..<header.types {
            guard let seconds = file.number(4), abs(seconds) < 100 * 3_600, file.skip(2) else { return nil }
            ahead.append(seconds)
        }
        guard kinds.allSatisfy({ $0 < header.types }), file.skip(header.lengthBehindTypes), let text = file.footer()
        else { return nil }
        atFirst = ahead[0]
        changes = zip(times, kinds).map { (from: $0, ahead: ahead[Int($1)]) }
        if text.isEmpty {
            rule = nil
        } else {
            guard let read = YearlyZoneRule(text) else { return nil }
            rule = read
        }
    }

    /// How many seconds the clocks are ahead of UTC.
    ///
    /// - Parameter moment: in seconds since 1970.
    package func offset(at moment: Int64) -> Int64 {
        guard let first = changes.first, let last = changes.last else { return rule?.offset(at: moment) ?? atFirst }
        if moment < first.from { return atFirst }
        if moment >= last.from { return rule?.offset(at: moment) ?? last.ahead }
        var (low, high) = (0, changes.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if changes[middle].from <= moment { low = middle } else { high = middle }
        }
        return changes[low].ahead
    }
}

/// Reads the parts of a file from front to back.
private struct ZoneFile {
    /// RFC 8536, section 3.1.
    struct Header {
        let version: UInt8
        let flagsOfUTC: Int
        let flagsOfStandard: Int
        let leapSeconds: Int
        let times: Int
        let types: Int
        let characters: Int

        /// Of the block behind it.
        func length(ofTime length: Int) -> Int {
            times * (length + 1) + types * 6 + lengthBehindTypes + leapSeconds * (length + 4)
        }
        /// Without leap seconds.
        var lengthBehindTypes: Int { characters + flagsOfStandard + flagsOfUTC }
    }

    private var rest: ArraySlice<UInt8>
    /// No zone has a thousand changes; nothing here may be as large as a hostile file says.
    private static let most: Int64 = 10_000

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func header() -> Header? {
        guard let magic = bytes(4), magic.elementsEqual("TZif".utf8), let version = bytes(1)?.first, skip(15) else {
            return nil
        }
        var counts: [Int] = []
        for _ in 0..<6 {
            guard let count = number(4), (0...Self.most).contains(count) else { return nil }
            counts.append(Int(count))
        }
        return Header(
            version: version, flagsOfUTC: counts[0], flagsOfStandard: counts[1], leapSeconds: counts[2],
            times: counts[3], types: counts[4], characters: counts[5])
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }

    /// A signed number, its highest byte first.
    mutating func number(_ length: Int) -> Int64? {
        guard let bytes = bytes(length), let first = bytes.first else { return nil }
        return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
    }

    /// The text between two line feeds at the end.
    func footer() -> String? {
        guard rest.first == UInt8(ascii: "\n"), rest.last == UInt8(ascii: "\n"), rest.count >= 2 else { return nil }
        return String(validating: rest.dropFirst().dropLast(), as: UTF8.self)
    }
}
