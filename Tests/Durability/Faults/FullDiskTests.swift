import Glibc
import HTTPTestClient
import Support
import Testing

/// On a small file system in memory, which takes the right to mount one.
@Suite(
    "A full disk", .enabled(if: SmallDisk.isPossible, "no file system can be mounted here, so there is no full disk"))
struct FullDiskTests {
    @Test("writes are 507 and reads go on; with room there are writes again within two seconds, without a restart")
    func full() async throws {
        try await withFolder(Server.files) { _, folder in
            let disk = try SmallDisk()
            defer { disk.unmount() }
            let database = "\(disk.path)/sessions.db"
            let server = try await Server(in: folder, database: database)
            let port = server.port
            let client = try await blocking {
                let connection = try Connection(port: port)
                let session = try connection.newSession()
                let token = session.token
                var client = OneSession(session)
                client.write(10, to: port)
                #expect(client.acknowledged == 10)
                try disk.fill()
                var status = 200
                while status < 400 {
                    status = try Self.put("extra", on: connection, token: token)
                }
                #expect(status == 507)
                // The log was written back, which may have given room.
                try disk.fill()
                #expect(try Self.put("extra", on: connection, token: token) == 507)
                #expect(try client.violation(at: port) == nil, "reads go on")
                #expect(try connection.send("GET", "/health/ready").status == 200)
                try disk.empty()
                let end = ContinuousClock.now + .seconds(2)
                while try Self.put("extra", on: connection, token: token) != 200, ContinuousClock.now < end {
                    usleep(20_000)
                }
                #expect(ContinuousClock.now < end)
                let before = client.acknowledged
                client.write(10, to: port)
                #expect(client.acknowledged == before + 10)
                return client
            }
            try await server.kill()
            let next = try await Server(in: folder, database: database)
            let nextPort = next.port
            let violation = try await blocking { try client.violation(at: nextPort) }
            #expect(violation == nil)
            try await next.kill()
        }
    }

    @Test("a disk that the log alone has filled gets room from it, while the server runs and when it starts")
    func fullOfLog() async throws {
        try await withFolder(Server.files) { _, folder in
            let disk = try SmallDisk()
            defer { disk.unmount() }
            let database = "\(disk.path)/sessions.db"
            let server = try await Server(in: folder, database: database)
            let port = server.port
            let session = try await blocking {
                let connection = try Connection(port: port)
                let session = try connection.newSession()
                for round in 0..<3 {
                    var status = 200
                    while status < 400 { status = try Self.put("", on: connection, token: session.token) }
                    #expect(status == 507, "round \(round)")
                    #expect(try Self.put("", on: connection, token: session.token) == 200, "round \(round)")
                }
                var status = 200
                while status < 400 { status = try Self.put("", on: connection, token: session.token) }
                return session
            }
            try await server.kill()
            let next = try await Server(in: folder, database: database)
            let nextPort = next.port
            let status = try await blocking {
                try Self.put("", on: try Connection(port: nextPort), token: session.token)
            }
            #expect(status == 200)
            try await next.kill()
        }
    }

    /// Fills up the log, with a service that the model does not know.
    private static func put(_ name: String, on connection: Connection, token: String) throws -> Int {
        let text = String(repeating: name, count: 4_000)
        return try connection.send(
            "PATCH", "\(Connection.Session.path)/services/profile", #"{"attributes":{"a":"\#(text)"}}"#, token: token
        ).status
    }
}

/// A tmpfs of a few megabytes.
private final class SmallDisk: Sendable {
    struct Failure: Error {}

    static let isPossible: Bool = {
        guard let disk = try? SmallDisk() else { return false }
        disk.unmount()
        return true
    }()

    let path: String
    private var filler: String { "\(path)/filler" }

    init() throws {
        var template = Array("/tmp/concierge-disk-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Failure() }
        path = String(cString: made)
        guard mount("concierge", path, "tmpfs", 0, "size=3m") == 0 else {
            rmdir(path)
            throw Failure()
        }
    }

    func unmount() {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }

    /// Takes what room there is.
    func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard file >= 0 else { throw Failure() }
        defer { close(file) }
        let block = [UInt8](repeating: 0, count: 4_096)
        while write(file, block, block.count) > 0 {}
    }

    func empty() throws {
        guard unlink(filler) == 0 else { throw Failure() }
    }
}
