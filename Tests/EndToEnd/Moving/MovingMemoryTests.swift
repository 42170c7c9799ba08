import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

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
            let file = "\(folder)/sessions.ndjson"
            let sent = try await blocking { try Self.write(to: file) }
            #expect(sent > 100 << 20)
            let before = Self.peakKilobytes(identifier)
            let run = try await ProgramProcess.run(["import", file, "--admin-port", "\(admin)"])
            let report = try JSONDocument(parsing: run.output)
            #expect(report[member: "imported"]?.int == Self.sessions && run.status == 0, "\(run)")
            try await blocking {
                // SQLite may keep every page of the file; the server keeps no other copy of the archive.
                let imported = Self.peakKilobytes(identifier) - before
                let pages = try Self.kilobytes("\(folder)/sessions.db")
                #expect(isSanitized || imported < pages + (48 << 10), "\(imported) KB, \(pages) KB of pages")
                let got = try Self.receive(from: admin)
                #expect(got == sent)
                let exported = Self.peakKilobytes(identifier) - before
                #expect(isSanitized || exported < pages + (72 << 10), "\(exported) KB, \(pages) KB of pages")
            }
            server.send(SIGTERM)
            #expect(try await server.result().status == 0)
        }
    }

    private static func kilobytes(_ path: String) throws -> Int {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return Int(status.st_size) >> 10
    }

    /// - Returns: how many bytes of sessions there are.
    private static func write(to path: String) throws -> Int {
        let file = try #require(fopen(path, "we"))
        defer { fclose(file) }
        func write(_ bytes: [UInt8]) { #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count) }
        var archive = TestArchive()
        write(archive.header)
        let text = String(repeating: "a", count: documentBytes)
        let profile = #"{"name":"Ada","email":null,"locale":null,"attributes":{"text":"\#(text)"}}"#
        var sum = 0
        for number in 1...sessions {
            let line = archive.session(number, profile: profile)
            sum += line.count
            write(line)
        }
        write(archive.end)
        return sum
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
