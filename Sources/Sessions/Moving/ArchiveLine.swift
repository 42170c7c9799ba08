import JSONDocument

/// A line of an archive: a JSON object whose last member, `sum`, is a checksum of everything before it.
///
/// ```json
/// {"session":"ses_…","…":"…","sum":"0123456789abcdef0123456789abcdef"}
/// ```
///
/// The checksum is the first half of the SHA-256 of the bytes before the comma before `"sum"`. So a damaged line is
/// found by itself, and the other lines stay usable.
enum ArchiveLine {
    private static let separator = Array(#","sum":""#.utf8)
    private static let digits = 32
    private static let end = Array(#""}"#.utf8)

    /// Ends the object in `json` with its checksum and a line end.
    static func seal(_ json: JSONWriter) -> [UInt8] {
        let sum = SHA256Digest(of: json.bytes).text(ofFirst: digits / 2)
        return json.bytes + separator + Array(sum.utf8) + end + [UInt8(ascii: "\n")]
    }

    /// The members of a line with a correct checksum, without its end.
    ///
    /// - Throws: ``ArchiveProblem``.
    static func open(_ line: [UInt8]) throws(ArchiveProblem) -> JSONDocument {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: line)
        } catch {
            throw ArchiveProblem(pointer: error.pointer ?? "", detail: error.description)
        }
        guard document.kind == .object else { throw ArchiveProblem(detail: "must be an object") }
        let content = line.dropLast(separator.count + digits + end.count)
        let seal = separator + Array(SHA256Digest(of: content).text(ofFirst: digits / 2).utf8) + end
        guard line.count > seal.count, line.suffix(seal.count).elementsEqual(seal) else {
            throw ArchiveProblem(
                pointer: "/sum", detail: "does not match the line, which was damaged or changed by hand")
        }
        return document
    }
}

/// Why a line of an archive was refused.
package struct ArchiveProblem: Error, Sendable, Equatable {
    /// RFC 6901, into the line.
    package let pointer: String
    package let detail: String

    package init(pointer: String = "", detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}

/// The first line of an archive, which describes the others.
enum ArchiveHeader {
    static let format = "concierge-sessions"
    /// Raised when a reader of the previous version could not understand the lines. That of an archive without
    /// documents of the process is 1.
    static let version = 2

    /// - Parameters:
    ///   - program: the program that writes it, for people.
    ///   - sessions: about how many sessions there are.
    ///   - hasProcess: whether documents of the process follow.
    static func line(
        program: String, at time: Timestamp, sessions: Int, services: [RegisteredService], hasProcess: Bool,
        after: SessionCursor?
    ) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("format", format)
        json.member("version", hasProcess ? version : 1)
        json.member("program", program)
        json.member("at", time.description)
        json.member("sessions", sessions)
        json.array("services") { json in
            for service in services {
                json.beginObject()
                json.member("name", service.name)
                json.member("kind", service.kind)
                json.endObject()
            }
        }
        if let after { json.member("after", after.text) }
        return ArchiveLine.seal(json)
    }

    /// - Throws: ``ArchiveProblem`` when the archive cannot be read.
    static func check(_ document: JSONDocument) throws(ArchiveProblem) {
        guard document[member: "format"]?.string == Self.format else {
            throw ArchiveProblem(pointer: "/format", detail: "the first line must say \"\(Self.format)\"")
        }
        guard let version = document[member: "version"]?.int else {
            throw ArchiveProblem(pointer: "/version", detail: "must be a number")
        }
        guard (1...Self.version).contains(version) else {
            throw ArchiveProblem(
                pointer: "/version", detail: "is \(version); this program reads versions 1 to \(Self.version)")
        }
    }
}

/// The last line of an archive. When it is missing or does not match, sessions are missing.
struct ArchiveEnd {
    let sessions: Int
    /// The SHA-256 of all lines between the first and this one, including their line ends.
    let digest: String
    /// Places of the store that could not be read during the export. Their sessions are missing.
    let skipped: Int

    var line: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.object("end") { json in
            json.member("sessions", sessions)
            json.member("digest", digest)
            if skipped > 0 { json.member("skipped", skipped) }
        }
        return ArchiveLine.seal(json)
    }
}

extension ArchiveEnd {
    /// `nil` for a line of another kind.
    init?(_ document: JSONDocument) {
        guard let end = document[member: "end"] else { return nil }
        sessions = end[member: "sessions"]?.int ?? -1
        digest = end[member: "digest"]?.string ?? ""
        skipped = end[member: "skipped"]?.int ?? 0
    }
}
