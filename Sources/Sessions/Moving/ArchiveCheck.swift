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
            do { _ = try ArchiveHeader(document) } catch { throw NotAnArchive(problem: error) }
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
