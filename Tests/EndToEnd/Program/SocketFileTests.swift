import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("The program at sockets in the file system")
struct SocketFileTests {
    private static func arguments(_ folder: String) -> [String] {
        ["--host", "unix:\(folder)/http", "--admin-host", "unix:\(folder)/admin", "--store", "memory"]
    }

    private static func serve(in folder: String) async throws -> ProgramProcess {
        let process = try ProgramProcess(["serve"] + arguments(folder))
        let line = try await process.line(of: "listening")
        #expect(line[string: "public"] == "unix:\(folder)/http")
        #expect(line[string: "admin"] == "unix:\(folder)/admin")
        return process
    }

    @Test("serves there, without a key for the admin listener, and its health is asked there")
    func walk() async throws {
        try await withFolder([:]) { _, folder in
            let process = try await Self.serve(in: folder)
            try await blocking {
                let client = try RawConnection(path: "\(folder)/http")
                try client.send("POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
                #expect(try client.readResponse().status == 201)
                let admin = try RawConnection(path: "\(folder)/admin")
                try admin.send("GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try admin.readResponse()[member: "sessions"]?[member: "live"] == 1)
                try admin.send("GET /v1/stats HTTP/1.1\r\nHost: evil.example\r\n\r\n")
                #expect(try admin.readResponse().status == 403, "a name that a page could have been loaded from")
            }
            let health = try await ProgramProcess.run(["health"] + Self.arguments(folder))
            #expect(health.status == 0, "\(health.complaints)")
            process.send(SIGTERM)
            #expect(try await process.result().status == 0)
            let gone = try await ProgramProcess.run(["health"] + Self.arguments(folder))
            #expect(gone.status == 1 && gone.complaints.contains("no server responds at unix:\(folder)/http"))
        }
    }

    @Test("comes back after kill -9, and refuses the place of one that runs")
    func killed() async throws {
        try await withFolder([:]) { _, folder in
            let first = try await Self.serve(in: folder)
            first.send(SIGKILL)
            _ = try await first.result()
            let second = try await Self.serve(in: folder)
            let third = try await ProgramProcess.run(["serve"] + Self.arguments(folder))
            #expect(third.status == 1)
            #expect(third.complaints.contains("cannot listen on unix:\(folder)/http: another server listens there"))
            second.send(SIGTERM)
            #expect(try await second.result().status == 0)
        }
    }
}
