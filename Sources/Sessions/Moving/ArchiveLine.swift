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
