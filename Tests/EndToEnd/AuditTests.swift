import Glibc
import JSONDocument
import Support
import Testing

/// `log.audit`: what the admin listener did to data, and for whom, apart from the log.
@Suite("Audit lines in a file")
struct AuditTests {
    private static let key = "an-admin-key-of-24-bytes"

    private static func withServer(
        audit path: String, _ body: (ServingProgram, TestClient) async throws -> Void
    ) async throws {
        let server = try await ServingProgram([
            "--store", "memory", "--set", "admin.key=\(key)", "--set", "log.audit=file:\(path)",
        ])
        try await body(server, server.admin.with("X-Admin-Key", key))
    }

    private static func lines(_ path: String) throws -> [JSONDocument] {
        let file = open(path, O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return try bytes.logLines.map { try JSONDocument(parsing: $0) }
    }

    @Test("has changes, reads of persons' data and wrong keys, for nobody else to read; the log has none of them")
    func lines() async throws {
        try await withFolder([:]) { _, folder in
            let path = "\(folder)/audit.log"
            try await Self.withServer(audit: path) { server, admin in
                let created = try await server.client.send("POST", "/v1/sessions")
                let id = try #require(created[member: "session"]?[string: "id"])
                try await server.admin.get("/v1/stats", fields: [("X-Admin-Key", "wrong")])
                try await admin.send("PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"ada"}"#)
                try await admin.get("/v1/sessions/\(id)")
                try await admin.get("/v1/users/ada/sessions")
                try await admin.get("/v1/sessions?user_id=ada")
                try await admin.get("/v1/tasks")
                // These have nothing of persons, or nothing was read.
                for none in ["/v1/stats", "/metrics", "/v1/service-kinds", "/v1/journeys/census", "/v1/sessions/x"] {
                    try await admin.get(none)
                }
                try await admin.send("DELETE", "/v1/users/ada/sessions")
                let result = try await server.end()
                #expect(!result.complaints.contains("admin_"))
                let lines = try Self.lines(path)
                #expect(
                    lines.map { "\($0[string: "event"] ?? "") \($0[string: "route"] ?? "")" } == [
                        "admin_key_refused /v1/stats", "admin_change /v1/sessions/{session}/user",
                        "admin_read /v1/sessions/{session}", "admin_read /v1/users/{user}/sessions",
                        "admin_read /v1/sessions", "admin_read /v1/tasks", "admin_change /v1/users/{user}/sessions",
                    ])
                #expect(lines.map { $0[string: "key"] } == [nil] + Array(repeating: "admin.key", count: 6))
                #expect(lines[1...2].allSatisfy { $0[string: "session_id"] == id })
                let users = lines.map { $0[string: "user"] }
                let user = try #require(users[3])
                #expect(user.count == 32 && users == [nil, nil, nil, user, user, nil, user])
                for line in lines { #expect(isTimestamp(line[string: "time"])) }
            }
            var facts = stat()
            #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        }
    }

    @Test("at SIGHUP lines go to a new file where the former one was renamed, and a truncated file is appended to")
    func rotation() async throws {
        try await withFolder([:]) { _, folder in
            let path = "\(folder)/audit.log"
            try await Self.withServer(audit: path) { server, admin in
                func change() async throws { try await admin.send("DELETE", "/v1/users/ada/sessions") }
                try await change()
                #expect(rename(path, path + ".1") == 0)
                try await change()
                server.process.send(SIGHUP)
                _ = try await server.process.line(of: "audit_reopened")
                try await change()
                // The next line is written when this one is.
                while try Self.lines(path).isEmpty { await Task.yield() }
                #expect(truncate(path, 0) == 0)
                try await change()
                try await change()
                try await server.end()
            }
            #expect(try Self.lines(path + ".1").count == 2)
            // Without a hole in front.
            #expect(try Self.lines(path).count == 2)
        }
    }

    @Test("on a full disk the server goes on; the log and the metrics say what is missing")
    func fullDisk() async throws {
        try await Self.withServer(audit: "/dev/full") { server, admin in
            let dropped = "concierge_audit_lines_dropped_total "
            func lost() async throws -> Int {
                let text = try await admin.get("/metrics").text
                return text.split(separator: "\n").first { $0.hasPrefix(dropped) }
                    .flatMap { Int($0.dropFirst(dropped.count)) } ?? 0
            }
            #expect(try await admin.send("DELETE", "/v1/users/ada/sessions").status == 200)
            while try await lost() == 0 { await Task.yield() }
            #expect(try await admin.send("DELETE", "/v1/users/ada/sessions").status == 200)
            let line = try await server.process.line(of: "audit_not_written")
            #expect(line[string: "file"] == "/dev/full" && line[member: "lines"]?.int ?? 0 >= 1)
            try await server.end()
        }
    }

    @Test("a file that cannot be opened keeps the server from starting, with the reason")
    func refused() async throws {
        let result = try await ProgramProcess.run(
            ServingProgram.arguments(["--store", "memory", "--set", "log.audit=/nowhere/audit.log"]))
        #expect(result.status == 1)
        #expect(
            result.complaints
                == "concierge: log.audit: /nowhere/audit.log cannot be opened: No such file or directory\n")
    }
}
