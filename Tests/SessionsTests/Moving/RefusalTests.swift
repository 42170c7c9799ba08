import JSONDocument
import Sessions
import Testing

@testable import Sessions

@Suite("What is refused of an archive")
struct ArchiveRefusalTests {
    /// A line that was changed by somebody who knows how, so that its checksum is right.
    static func changed(_ line: [UInt8], _ patch: JSONDocument) throws -> [UInt8] {
        let members = try #require(try JSONDocument(parsing: line).merging(patch).members)
        var json = JSONWriter()
        json.beginObject()
        for member in members where member.name != "sum" {
            json.name(member.name)
            json.document(member.value)
        }
        return ArchiveLine.seal(json).dropLast()
    }

    static func service(_ name: String, _ document: String, revision: Int = 1) -> JSONDocument {
        [
            "name": JSONDocument(name), "birth": 0, "revision": JSONDocument(revision),
            "created_at": "2023-01-01T00:00:00.000Z", "updated_at": "2023-01-01T00:00:00.000Z",
            "document": JSONDocument(document),
        ]
    }

    private struct Change {
        let patch: JSONDocument
        let pointer: String

        init(_ patch: JSONDocument, _ pointer: String) {
            self.patch = patch
            self.pointer = pointer
        }
    }

    private static let changes: [Change] = [
        Change(["session": "ses_1"], "/session"),
        Change(["session": nil], "/session"),
        Change(["token": "abc"], "/token"),
        Change(["token": 7], "/token"),
        Change(["mode": "other"], "/mode"),
        Change(["created_at": "2026-02-30T00:00:00.000Z"], "/created_at"),
        Change(["used_at": "yesterday"], "/used_at"),
        Change(["expires_at": "0001-01-01T00:00:00.000Z"], "/expires_at"),
        Change(["revision": 0], "/revision"),
        Change(["revision": -1], "/revision"),
        Change(["revision": 1.5], "/revision"),
        Change(["revision": 9_007_199_254_740_992], "/revision"),
        Change(["cursor": "elsewhere"], "/cursor"),
        Change(["labels": ["a": 1]], "/labels/a"),
        Change(["labels": []], "/labels"),
        Change(["user_id": "somebody"], "/user_id"),
        Change(["user_id": 7], "/user_id"),
        Change(["retired_tokens": [["token": "x"]]], "/retired_tokens/0/token"),
        Change(["retired_tokens": 1], "/retired_tokens"),
        Change(["more": true], "/more"),
        Change(["services": nil], "/services"),
        Change(["services": [7]], "/services/0"),
        Change(["services": [service("nothing", "{}")]], "/services/0/name"),
        Change(["services": [service("profile", "{")]], "/services/0/document"),
        Change(["services": [service("profile", #"{"name":7}"#)]], "/services/0/document/name"),
        Change(["services": [service("counter", #"{"count":1}"#, revision: 9)]], "/services/0/revision"),
        Change(
            ["services": [service("counter", #"{"count":1}"#), service("counter", #"{"count":1}"#)]], "/services/1/name"
        ),
        Change(["services": [service("counter", #"{"count":1}"#), service("notes", "{}")]], "/services"),
        Change(["services": [service("coordinator", #"{"journeys":[{"id":"main"}]}"#)]], "/services/0/document"),
        Change(
            [
                "services": [
                    service(
                        "coordinator",
                        #"{"journeys":[{"id":"main","step":1,"at":[1],"who":[["gone",1]],"on":["x"]}]}"#)
                ]
            ], "/services/0/document/journeys/0/who/0"
        ),
        Change(
            [
                "services": [
                    service("user", #"{"id":"ada","authenticated":true,"claims":{}}"#)
                ]
            ], "/user_id"
        ),
    ]

    @Test("is named by its place, and everything else is taken in", arguments: changes.indices)
    func changed(index: Int) async throws {
        let (patch, pointer) = (Self.changes[index].patch, Self.changes[index].pointer)
        let from = try SessionsFixture()
        for _ in 0..<3 { _ = try await from.session() }
        var lines = try await exported(from.sessions)
        lines[2] = try Self.changed(lines[2], patch)
        let to = try SessionsFixture(clock: from.clock)
        let report = try await imported(lines, into: to.sessions)
        #expect(report.read == 3 && report.refused == 1 && report.imported == 2)
        #expect(!report.isComplete)
        #expect(report.errors.contains { $0.line == 3 && $0.problem.pointer == pointer }, "\(report.errors)")
        #expect(report.errors.allSatisfy { !$0.problem.detail.isEmpty })
        #expect(to.store.sessionCount == 2)
    }

    @Test("a line with no end of mistakes has a few of them told, in short")
    func many() async throws {
        let from = try SessionsFixture()
        _ = try await from.session()
        var lines = try await exported(from.sessions)
        let name = String(repeating: "n", count: 100_000)
        let nothing: JSONDocument = [:]
        let empty = JSONDocument(Array(repeating: nothing, count: 20_000))
        let members: [(name: String, value: JSONDocument)] = [
            ("services", empty), (name, true), (name + "2", true),
        ]
        lines[1] = try Self.changed(lines[1], JSONDocument(members: members))
        let report = try await imported(lines, into: try SessionsFixture(clock: from.clock).sessions)
        #expect(report.refused == 1)
        #expect((10...20).contains(report.errors.count))
        #expect(report.errors.allSatisfy { $0.problem.pointer.utf8.count < 200 && $0.problem.detail.utf8.count < 200 })
        lines[1] = try Self.changed(lines[1], ["services": []])
        let names = try await imported(lines, into: try SessionsFixture(clock: from.clock).sessions)
        #expect(names.errors.contains { $0.problem.pointer.hasPrefix("/nnn") && $0.problem.pointer.utf8.count < 200 })
    }

    @Test("a byte that changed anywhere in a line has just that line refused")
    func damaged() async throws {
        let from = try SessionsFixture()
        for number in 0..<3 { _ = try await from.furnished("n\(number)") }
        let lines = try await exported(from.sessions)
        for place in stride(from: 0, to: lines[2].count, by: 13) {
            var damaged = lines
            damaged[2][place] ^= 4
            // That makes it two lines.
            if damaged[2][place] == UInt8(ascii: "\n") { continue }
            let report = try await imported(damaged, into: try SessionsFixture(clock: from.clock).sessions)
            #expect(report.refused == 1 && report.imported == 2 && !report.isComplete, "byte \(place)")
        }
    }

    @Test("what breaks off, lacks a line or has them in another order is not complete")
    func truncated() async throws {
        let from = try SessionsFixture()
        for _ in 0..<5 { _ = try await from.session() }
        let lines = try await exported(from.sessions)
        func report(_ lines: [[UInt8]]) async throws -> ImportReport {
            try await imported(lines, into: try SessionsFixture(clock: from.clock).sessions)
        }
        for count in 1...6 {
            let report = try await report(Array(lines[..<count]))
            #expect(report.imported == count - 1 && !report.isComplete && report.refused == 0)
            #expect(report.errors.count == 1)
        }
        let half = try await report(Array(lines[..<3]) + [Array(lines[3].prefix(40))])
        #expect(half.imported == 2 && half.refused == 1 && !half.isComplete)
        var fewer = lines
        fewer.remove(at: 2)
        #expect(try await !report(fewer).isComplete)
        var swapped = lines
        swapped.swapAt(2, 3)
        let disordered = try await report(swapped)
        #expect(disordered.imported == 5 && !disordered.isComplete)
        #expect(try await !report(lines + [lines[1]]).isComplete)
        #expect(try await report(lines).isComplete)
    }

    @Test(
        "what is no archive is refused as a whole",
        arguments: ["", "hello", "{}", #"{"format":"concierge-sessions","version":1}"#, "[]", "\u{1F}\u{8B}"])
    func foreign(text: String) async throws {
        let fixture = try SessionsFixture()
        await #expect(throws: NotAnArchive.self) {
            _ = try await imported([Array(text.utf8)], into: fixture.sessions)
        }
        let lines = try await exported(fixture.sessions)
        let newer = try Self.changed(lines[0], ["version": 3])
        await #expect(throws: NotAnArchive.self) {
            _ = try await imported([newer], into: fixture.sessions)
        }
    }

    @Test("errors have the number of their line in the file, the empty ones counted")
    func numbers() async throws {
        let fixture = try SessionsFixture()
        _ = try await fixture.session()
        let lines = try await exported(fixture.sessions)
        let report = try await imported(
            [[], lines[0], [], [], Array("{}".utf8), lines[1], [], Array("[".utf8)],
            into: try SessionsFixture().sessions)
        #expect(report.errors.map(\.line) == [5, 8, 8])
    }

    @Test("errors are bounded, and how many more there were is said")
    func manyErrors() async throws {
        let fixture = try SessionsFixture()
        let header = try await exported(fixture.sessions)[0]
        let report = try await imported(
            [header] + Array(repeating: Array("{}".utf8), count: 250), into: fixture.sessions)
        #expect(report.refused == 250 && report.errors.count == 100 && report.moreErrors == 151)
    }

    @Test("a report is never larger than what is remembered of an answer, whatever is wrong")
    func largestReport() async throws {
        let from = try SessionsFixture()
        for _ in 0..<20 { _ = try await from.session() }
        var lines = try await exported(from.sessions)
        for place in 1...20 {
            let names = (0..<16).map { "\($0)" + String(repeating: "\u{1}", count: 60) }
            let unknown = names.map { (name: $0, value: JSONDocument(true)) }
            let label = JSONDocument(members: [(String(repeating: "\u{2}", count: 5_000), JSONDocument(1))])
            lines[place] = try Self.changed(lines[place], JSONDocument(members: unknown + [("labels", label)]))
        }
        let report = try await imported(lines, into: try SessionsFixture(clock: from.clock).sessions)
        var json = JSONWriter()
        json.beginObject()
        report.write(to: &json)
        json.endObject()
        #expect((20_000..<60_000).contains(json.bytes.count), "\(json.bytes.count)")
        #expect(report.refused == 20 && report.errors.count + report.moreErrors == 321, "\(report.errors.count)")
    }

    @Test(
        "a time is read as it is written, and nothing else", arguments: [0, 1, 951_782_400_000, 1_767_225_600_123, -1])
    func times(milliseconds: Int64) {
        let time = Timestamp(millisecondsSince1970: milliseconds)
        #expect(Timestamp(time.description) == time)
        for text in ["2026-02-29T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01 00:00:00.000Z", "", "x"] {
            #expect(Timestamp(text) == nil)
        }
    }
}
