/// Some lines of an archive as an archive of their own: with the header of the whole, and an end that counts them
/// alone. So a large archive can be imported in requests of a bounded size, each of which is checked by itself.
package struct ArchivePart {
    /// Enough sessions for a commit or two. The admin listener takes requests of this size, whatever its settings.
    package static let usualBytes = 1 << 20
    /// For the header and the end.
    private static let roomForTheRest = 4 << 10

    private let header: [UInt8]
    private var bytes: [UInt8] = []
    private var digest = SHA256Hasher()
    private var sessions = 0
    /// The number in the whole archive of each line.
    private var numbers: [Int] = []

    /// - Parameter header: the first line of the whole.
    package init(header: [UInt8]) { self.header = header + [UInt8(ascii: "\n")] }

    /// How many lines there are.
    package var count: Int { numbers.count }

    /// Whether a line does not fit any more. The first one always does.
    package func isFull(for line: [UInt8]) -> Bool {
        count > 0 && header.count + bytes.count + line.count + Self.roomForTheRest > Self.usualBytes
    }

    /// - Parameter number: of the line in the whole archive.
    package mutating func add(_ line: [UInt8], number: Int, isSession: Bool) {
        let whole = line + [UInt8(ascii: "\n")]
        bytes += whole
        digest.add(whole)
        numbers.append(number)
        if isSession { sessions += 1 }
    }

    /// What is sent.
    package var body: [UInt8] {
        header + bytes + ArchiveEnd(sessions: sessions, digest: digest.digest.text(), skipped: 0).line
    }

    /// The number in the whole archive of a line of ``body``, counted from 1.
    package func number(ofLine line: Int) -> Int {
        let place = line - 2
        return numbers.indices.contains(place) ? numbers[place] : numbers.last ?? 1
    }
}
