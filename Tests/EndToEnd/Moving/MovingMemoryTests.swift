import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

@testable import Sessions

@Suite("Exports and imports of many sessions")
struct MovingMemoryTests {
    /// With what is in them 100 MB and more.
    private static let sessions = 20_000
    private static let documentBytes = 5_000

    @Test("take no memory that grows with their number")
    func bounded() async throws {
        try await withFolder(["concierge.json": "{}"]) { _, folder in
            let server = try ProgramProcess([
                "serve", "--config", "\(folder)/concierge.json", "--host", "127.0.0.1", "--port", "0", "--admin-port",
                "0", "--store",
                "sqlite:\(folder)/sessions.db", "--workers", "1",
            ])
            let admin = try await server.ports().adminPort
            let identifier = server.identifier
            try await blocking {
                // Of what it grows by, 48 MiB are pages that SQLite keeps: half of that of the archive.
                let before = Self.peakKilobytes(identifier)
                let sent = try Self.send(to: admin)
                #expect(sent > 100 << 20)
                let imported = Self.peakKilobytes(identifier) - before
                #expect(isSanitized || imported < 60 << 10, "\(imported) KB")
                let got = try Self.receive(from: admin)
                #expect(got == sent)
                let exported = Self.peakKilobytes(identifier) - before
                #expect(isSanitized || exported < 76 << 10, "\(exported) KB")
            }
            server.send(SIGTERM)
            #expect(try await server.result().status == 0)
        }
    }

    /// - Returns: how many bytes of sessions there were.
    private static func send(to port: UInt16) throws -> Int {
        let connection = try RawConnection(port: port)
        try connection.send(
            "POST /v1/imports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n")
        func send(_ bytes: [UInt8]) throws {
            try connection.send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
        }
        let now = SystemClock().now()
        try send(
            ArchiveHeader.line(
                program: "test", at: Timestamp(millisecondsSince1970: now), sessions: 0, services: [], after: nil))
        let text = String(repeating: "a", count: documentBytes)
        let document = #"{"name":"Ada","email":null,"locale":null,"attributes":{"text":"\#(text)"}}"#
        var digest = SHA256Hasher()
        var sum = 0
        for number in 1...sessions {
            let line = line(SessionID(high: UInt64(number), low: 1), at: now, document)
            digest.add(line)
            sum += line.count
            try send(line)
        }
        try send(ArchiveEnd(sessions: sessions, digest: digest.digest.text(), skipped: 0).line)
        try connection.send("0\r\n\r\n")
        let answer = try connection.readResponse()
        #expect(try answer.json[member: "imported"]?.int == sessions, "\(answer.text)")
        #expect(try answer.json[member: "complete"]?.bool == true)
        return sum
    }

    private static func line(_ id: SessionID, at now: Int64, _ document: String) -> [UInt8] {
        let time = Timestamp(millisecondsSince1970: now).description
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in [
            ("session", id.description), ("cursor", SessionCursor(id: id).text),
            ("token", String(repeating: "0", count: 64)), ("mode", "bearer"), ("created_at", time), ("used_at", time),
            ("expires_at", Timestamp(millisecondsSince1970: now + 3_600_000).description),
        ] {
            json.name(name)
            json.string(value)
        }
        json.name("revision")
        json.int(2)
        json.name("services")
        json.document([
            [
                "name": "profile", "birth": 0, "revision": 2, "created_at": JSONDocument(time),
                "updated_at": JSONDocument(time), "document": JSONDocument(document),
            ]
        ])
        return ArchiveLine.seal(json)
    }

    /// - Returns: how many bytes of sessions there were, if members were in one order.
    private static func receive(from port: UInt16) throws -> Int {
        let connection = try RawConnection(port: port)
        try connection.send("POST /v1/exports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        #expect(try connection.readResponse(isBodiless: true).status == 200)
        var sum = 0
        var head: [UInt8] = []
        var tail: [UInt8] = []
        while let chunk = try connection.readChunk() {
            sum += chunk.count
            if head.count < 100_000 { head += chunk }
            tail = (tail + chunk).suffix(1_000)
        }
        let header = head.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let end = tail.dropLast().lastIndex(of: UInt8(ascii: "\n")).map { tail.endIndex - $0 - 1 } ?? 0
        return sum - header - end
    }

    private static func peakKilobytes(_ identifier: pid_t) -> Int {
        guard let file = fopen("/proc/\(identifier)/status", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return text.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
        }
        return 0
    }
}
