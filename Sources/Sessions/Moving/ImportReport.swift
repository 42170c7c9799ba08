import JSONDocument

/// The result of an import so far.
package struct ImportReport: Sendable, Equatable {
    /// Sessions that were handled. Sessions that were read when the import had to stop do not count.
    package var read: Int { imported + skipped + refused }
    /// Sessions that were added, and those that replaced another.
    package var imported = 0
    /// Of the imported sessions, those that replaced another.
    package var replaced = 0
    /// Sessions that existed already or had expired.
    package var skipped = 0
    /// Of the skipped sessions, those that had expired.
    package var expired = 0
    package var refused = 0
    /// What became of the documents of the process; `nil` when the archive has none.
    package var process: Process?
    /// The first problems.
    package private(set) var errors: [Entry] = []
    /// How many more problems there were.
    package private(set) var moreErrors = 0
    /// Whether the archive was read to its end and is unchanged.
    package var isComplete = false
    /// The cursor of the last session that was handled.
    package var last: String?

    /// Enough to see what is wrong: an archive of another kind has an error in each line.
    static let mostErrors = 100
    /// Of all texts, so that the report is small enough for the store of idempotent responses.
    private static let mostBytes = 32 << 10
    private var bytes = 0

    package enum Process: String, Sendable, CaseIterable {
        case imported, replaced
        /// There were documents already.
        case skipped
        case refused
    }

    package struct Entry: Sendable, Equatable {
        /// Counted from 1.
        package let line: Int
        package let id: SessionID?
        package let problem: ArchiveProblem
    }

    package init() {}

    package mutating func add(_ problem: ArchiveProblem, of id: SessionID? = nil, line: Int) {
        let size = Self.size(of: problem.pointer) + Self.size(of: problem.detail)
        guard moreErrors == 0, errors.count < Self.mostErrors, bytes + size <= Self.mostBytes else {
            moreErrors += 1
            return
        }
        bytes += size
        errors.append(Entry(line: line, id: id, problem: problem))
    }

    /// The most bytes as JSON.
    private static func size(of text: String) -> Int {
        text.utf8.reduce(0) { $0 + ($1 < 0x20 || $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 6 : 1) }
    }

    /// Adds what a server reports of a part of the archive, in the form of ``write(to:)``.
    ///
    /// - Parameter number: turns the number of a line of the part into that of the archive.
    package mutating func add(_ part: JSONDocument, line number: (Int) -> Int) {
        func count(_ name: String) -> Int { part[member: name]?.int ?? 0 }
        imported += count("imported")
        replaced += count("replaced")
        skipped += count("skipped")
        expired += count("expired")
        refused += count("refused")
        moreErrors += count("more_errors")
        process = part[member: "process"]?.string.flatMap(Process.init) ?? process
        last = part[member: "last"]?.string ?? last
        for error in part[member: "errors"]?.elements ?? [] {
            let problem = ArchiveProblem(
                pointer: error[member: "pointer"]?.string ?? "", detail: error[member: "detail"]?.string ?? "")
            let line = error[member: "line"]?.int ?? 0
            add(problem, of: error[member: "id"]?.string.flatMap { SessionID($0) }, line: number(line))
        }
    }

    package func write(to json: inout JSONWriter) {
        let numbers: [(StaticString, Int)] = [
            ("read", read), ("imported", imported), ("replaced", replaced), ("skipped", skipped),
            ("expired", expired), ("refused", refused),
        ]
        for (name, number) in numbers {
            json.name(name)
            json.int(number)
        }
        if let process {
            json.member("process", process.rawValue)
        }
        json.array("errors") { json in
            for error in errors {
                json.beginObject()
                json.member("line", error.line)
                if let id = error.id { json.member("id", id.description) }
                json.member("pointer", error.problem.pointer)
                json.member("detail", error.problem.detail)
                json.endObject()
            }
        }
        json.member("more_errors", moreErrors)
        json.name("complete")
        json.bool(isComplete)
        json.name("last")
        if let last { json.string(last) } else { json.null() }
    }
}
