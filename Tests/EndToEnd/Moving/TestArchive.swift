import JSONDocument

@testable import Sessions

/// The lines of an archive that a test makes, without a server that exports it. Two with the same number are one session.
struct TestArchive {
    let now = SystemClock().now()
    private var digest = SHA256Hasher()
    private var sessions = 0

    var header: [UInt8] {
        ArchiveHeader.line(program: "test", at: time(now), sessions: 0, services: [], hasProcess: false, after: nil)
    }

    /// The last line, which knows what came before.
    var end: [UInt8] { ArchiveEnd(sessions: sessions, digest: digest.digest.text(), skipped: 0).line }

    static func id(_ number: Int) -> SessionID { SessionID(high: UInt64(number), low: 1) }

    /// What the report says of the last session that was handled.
    static func cursor(_ number: Int) -> String { SessionCursor(id: id(number)).text }

    /// - Parameters:
    ///   - profile: the document of its service `profile`.
    ///   - isExpired: whether its time is over.
    ///   - isDamaged: whether its checksum does not fit.
    mutating func session(
        _ number: Int, profile: String = "\(defaultProfile)", isExpired: Bool = false, isDamaged: Bool = false
    ) -> [UInt8] {
        let began = time(isExpired ? now - 7_200_000 : now).description
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in [
            ("session", Self.id(number).description), ("cursor", Self.cursor(number)),
            ("token", String(repeating: "0", count: 64)), ("mode", "bearer"), ("created_at", began), ("used_at", began),
            ("expires_at", time(isExpired ? now - 3_600_000 : now + 3_600_000).description),
        ] {
            json.name(name)
            json.string(value)
        }
        json.name("revision")
        json.int(2)
        json.name("services")
        json.document([
            [
                "name": "profile", "birth": 0, "revision": 2, "created_at": JSONDocument(began),
                "updated_at": JSONDocument(began), "document": JSONDocument(profile),
            ]
        ])
        var line = ArchiveLine.seal(json)
        // A digit of the checksum, before `"}` and the line's end.
        if isDamaged { line[line.count - 4] = line[line.count - 4] == UInt8(ascii: "0") ? 0x31 : 0x30 }
        digest.add(line)
        sessions += 1
        return line
    }

    private func time(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: milliseconds) }
}
