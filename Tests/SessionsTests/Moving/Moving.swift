import JSONDocument
import Sessions
import Testing

/// The lines of an export, without their ends.
func exported(_ sessions: Sessions, after: SessionCursor? = nil) async throws -> [[UInt8]] {
    let export = SessionExport(of: sessions, program: "test", after: after)
    var bytes: [UInt8] = []
    while let piece = try await export.next() { bytes += piece }
    #expect(bytes.last == UInt8(ascii: "\n"))
    return bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
}

func imported(
    _ lines: [[UInt8]], into sessions: Sessions, _ conflict: SessionImport.Conflict = .skip, isTrial: Bool = false
) async throws -> ImportReport {
    var work = SessionImport(into: sessions, conflict: conflict, isTrial: isTrial)
    try await work.take(lines.flatMap { $0 + [UInt8(ascii: "\n")] })
    return work.report
}

extension SessionsFixture {
    /// A session with something of everything.
    func furnished(_ name: String) async throws -> (Session, SessionToken) {
        let (session, _) = try await sessions.create(labels: ["name": JSONDocument(name)], mode: .cookie)
        try await perform(
            .put(["name": JSONDocument(name), "attributes": ["deep": [[["x"]]]]]), on: "profile", session)
        try await perform(.put(["count": 3]), on: "counter", session)
        _ = try await sessions.attachUser("user-\(name)", claims: ["a": "\"\\\n"], to: session)
        let token = try await sessions.rotate(session)
        return (session, token)
    }
}
