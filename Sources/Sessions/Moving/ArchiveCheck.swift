import JSONDocument

/// The first line is not the header of an archive that this program can read.
package struct NotAnArchive: Error, Sendable {
    package let problem: ArchiveProblem
}

/// Whether the lines of an archive are all there, as they were written. It is given all that are not empty, in order.
package struct ArchiveCheck {
    package enum Line {
        case header, end
        case process(JSONDocument)
        case session(JSONDocument)
    }

    private var hasHeader = false
    /// Lines of sessions, damaged ones too.
    package private(set) var sessions = 0
    private var end: ArchiveEnd?
    private var digest = SHA256Hasher()
    private var isWhole = true
    /// What the last line has shown to be wrong with the archive.
    private var problems: [ArchiveProblem] = []

    package init() {}

    /// - Parameter bytes: the line without its end.
    /// - Throws: ``NotAnArchive`` for the first line, ``ArchiveProblem`` for a damaged one of a session.
    package mutating func take(_ bytes: [UInt8]) throws -> Line {
        let document: JSONDocument
        do {
            document = try ArchiveLine.open(bytes)
        } catch {
            guard hasHeader else { throw NotAnArchive(problem: error) }
            note(bytes)
            sessions += 1
            isWhole = false
            throw error
        }
        guard hasHeader else {
            do { try ArchiveHeader.check(document) } catch { throw NotAnArchive(problem: error) }
            hasHeader = true
            return .header
        }
        if let end = ArchiveEnd(document) {
            close(with: end)
            return .end
        }
        note(bytes)
        if ArchivedProcess.isOne(document) { return .process(document) }
        sessions += 1
        return .session(document)
    }

    /// There are no more lines.
    ///
    /// - Returns: whether the archive is complete.
    /// - Throws: ``NotAnArchive`` when there was none.
    package mutating func finish() throws(NotAnArchive) -> Bool {
        guard hasHeader else { throw NotAnArchive(problem: ArchiveProblem(detail: "the archive is empty")) }
        if end == nil {
            problems.append(ArchiveProblem(detail: "the archive breaks off here: its last line is missing"))
        }
        return end != nil && isWhole
    }

    /// What the last line, or the end, has shown to be wrong with the archive.
    package mutating func takeProblems() -> [ArchiveProblem] {
        defer { problems = [] }
        return problems
    }

    private mutating func note(_ bytes: [UInt8]) {
        if end != nil {
            isWhole = false
            problems.append(ArchiveProblem(detail: "comes after the end"))
        }
        digest.add(bytes)
        digest.add([UInt8(ascii: "\n")])
    }

    private mutating func close(with end: ArchiveEnd) {
        let isTwice = self.end != nil
        self.end = end
        guard !isTwice, end.sessions == sessions, end.digest == digest.digest.text() else {
            isWhole = false
            let detail = "the archive had \(end.sessions) sessions and has been changed since it was written"
            return problems.append(ArchiveProblem(pointer: "/end", detail: detail))
        }
        guard end.skipped > 0 else { return }
        let detail =
            "\(end.skipped) places of the store could not be read during the export: their sessions are missing"
        problems.append(ArchiveProblem(pointer: "/end/skipped", detail: detail))
    }
}

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
