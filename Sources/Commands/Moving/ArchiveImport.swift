import API
import Glibc
import JSONDocument
import Sessions

/// `concierge import`: sends an archive in order, in requests of a bounded size, and adds up their reports.
///
/// The archive as a whole is checked here, where all of it is seen; the server checks each part (``ArchivePart``).
struct ArchiveImport {
    /// It had to stop. The lines before `line` are done.
    struct Stop: Error {
        let line: Int
        let reason: String
    }

    private let listener: AdminListener
    private let path: String
    private let first: Int
    private let progress: (ImportReport, _ line: Int) -> Void
    private var check = ArchiveCheck()
    private var isWhole = true
    private(set) var report = ImportReport()

    /// - Parameters:
    ///   - first: the first line that is sent, counted from 1.
    ///   - progress: is called after each request with the last line that is done.
    init(
        to listener: AdminListener, replaces: Bool, isTrial: Bool, from first: Int,
        progress: @escaping (ImportReport, _ line: Int) -> Void
    ) {
        self.listener = listener
        path = "/v1/imports?on_conflict=\(replaces ? "replace" : "skip")&dry_run=\(isTrial)"
        self.first = first
        self.progress = progress
    }

    /// - Throws: ``Stop``, ``CommandFailure``, ``NotAnArchive``.
    mutating func run(_ file: LineReader) throws {
        var part: ArchivePart?
        var header: [UInt8] = []
        var number = 0
        while let line = try file.next() {
            number += 1
            if line.isEmpty { continue }
            var isSession = true
            switch try kind(of: line) {
            case .header:
                header = line
                continue
            case .end:
                // The problems of the last lines come before those of the end.
                try send(&part)
                tellProblems(number)
                continue
            case .process: isSession = false
            case .session, nil: break
            }
            tellProblems(number)
            guard number >= first else { continue }
            if part?.isFull(for: line) == true { try send(&part) }
            part = part ?? ArchivePart(header: header)
            part?.add(line, number: number, isSession: isSession)
        }
        try send(&part)
        guard first <= max(number, 1) else {
            throw CommandFailure("there is no line \(first): the file has \(number) lines")
        }
        let isComplete = try check.finish()
        tellProblems(number)
        report.isComplete = isComplete && isWhole
    }

    /// Nil for a damaged line, which the server is to refuse.
    private mutating func kind(of line: [UInt8]) throws -> ArchiveCheck.Line? {
        do {
            return try check.take(line)
        } catch is ArchiveProblem {
            return nil
        }
    }

    private mutating func tellProblems(_ line: Int) {
        for problem in check.takeProblems() { report.add(problem, line: line) }
    }

    private mutating func send(_ part: inout ArchivePart?) throws(Stop) {
        guard let sent = part else { return }
        part = nil
        let stop = { (reason: String) in Stop(line: sent.number(ofLine: 2), reason: reason) }
        let answer: PlainHTTP.Answer
        do {
            answer = try listener.send("POST", path, type: MediaType.lines[0], body: sent.body)
        } catch {
            throw stop("\(error)")
        }
        let document = try? JSONDocument(parsing: answer.body)
        switch answer.status {
        case 200:
            report.add(document ?? .null, line: sent.number)
            if document?[member: "complete"]?.bool != true { isWhole = false }
        case 413 where sent.count == 1:
            report.refused += 1
            report.add(ArchiveProblem(detail: "is larger than the server takes"), line: sent.number(ofLine: 2))
            isWhole = false
        default:
            report.add(document?[member: "report"] ?? .null, line: sent.number)
            let detail = document?[member: "detail"]?.string
            throw stop(detail.map { "the server says: \($0)" } ?? listener.refusal(answer))
        }
        progress(report, sent.number(ofLine: sent.count + 1))
    }
}

/// The lines of a file, one after the other, so that the file may be larger than memory.
final class LineReader {
    private let path: String
    private let file: UnsafeMutablePointer<FILE>
    private var buffer: UnsafeMutablePointer<CChar>?
    private var capacity = 0

    init(_ path: String) throws(CommandFailure) {
        guard let file = fopen(path, "re") else { throw .ofFile(path) }
        self.path = path
        self.file = file
    }

    deinit {
        free(buffer)
        fclose(file)
    }

    /// The next line without its end; nil behind the last.
    func next() throws(CommandFailure) -> [UInt8]? {
        let count = getline(&buffer, &capacity, file)
        guard count >= 0 else {
            if ferror(file) != 0 { throw .ofFile(path) }
            return nil
        }
        var line = Array(UnsafeRawBufferPointer(start: buffer, count: count))
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        return line
    }
}

extension CommandFailure {
    /// The system's last error, with a file.
    static func ofFile(_ path: String) -> CommandFailure { .init("\(path): \(String(cString: strerror(errno)))") }
}
