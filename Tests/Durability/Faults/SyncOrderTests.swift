import Glibc
import HTTPTestClient
import Support
import Testing

/// A kill cannot show that a sync is missing, since the kernel keeps what the program wrote. So these tests read the
/// order of its system calls.
@Suite("Each response comes after the sync", .enabled(if: Strace.isUsable, Strace.missing))
struct SyncOrderTests {
    @Test("between a write to the log and the response there is a sync of the log")
    func order() async throws {
        try await withFolder(Server.files) { _, folder in
            let calls = ["pwrite64", "fdatasync", "sendto", "sendmsg", "writev", "write"]
            let server = try await Server(
                in: folder, through: Strace.recording(calls, to: "\(folder)/calls"))
            let port = server.port
            let client = try await blocking {
                var client = OneSession(try Connection(port: port).newSession())
                client.write(30, to: port)
                return client
            }
            #expect(client.acknowledged == 30)
            try await server.kill()
            let lines = try Self.lines(of: "\(folder)/calls")
            var isUnsynced = false
            var answers = 0
            // Before that the program tests its own transport.
            for line in lines.drop(while: { !$0.contains("listening") }) {
                if line.contains(" pwrite64("), !Self.isMark(line) { isUnsynced = true }
                // Also a call that strace shows in two lines, because another thread's call interrupts it.
                if line.contains("fdatasync"), line.hasSuffix("= 0") { isUnsynced = false }
                guard line.contains("\"HTTP/1.1 20") else { continue }
                answers += 1
                #expect(!isUnsynced, "answered before the sync: \(line)")
            }
            #expect(answers > 30)
            #expect(lines.count { $0.contains("fdatasync") && $0.hasSuffix("= 0") } >= 30)
        }
    }

    /// Whether a call writes the mark in the header of the database, which has to be true rather than on the disk.
    static func isMark(_ call: Substring) -> Bool { call.contains(", 20, 72") }

    /// The record of a program whose ``ProgramProcess/result()`` has returned: strace holds the program's standard
    /// error until it has written its last line.
    static func lines(of path: String) throws -> [Substring] { try text(of: path).split(separator: "\n") }

    static func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
