import Glibc
import HTTPTestClient
import Support
import Testing

/// On a small file system in memory, which needs the permission to mount one.
@Suite(
    "A full disk", .enabled(if: SmallDisk.isPossible, "no file system can be mounted here, so there is no full disk"))
struct FullDiskTests {
    @Test("writes get 507 and reads go on; with room writes succeed again within two seconds, without a restart")
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
                // The spare room is for pending writes.
                let statuses = try (0..<4).map { _ in try Self.put("extra", on: connection, token: token) }
                #expect(statuses.last == 507)
                // The log has been copied to the database, which may have made room.
                try disk.fill()
                #expect(try Self.put("extra", on: connection, token: token) == 507)
                #expect(try client.violation(at: port) == nil, "reads go on")
                #expect(try connection.send("GET", "/health/ready").status == 200)
                try disk.empty()
                try Self.waitForRoom(connection, token)
                let before = client.acknowledged
                client.write(10, to: port)
                #expect(client.acknowledged == before + 10)
                return client
            }
            // Once each, in this order.
            let full = try await server.process.line(of: "disk_full")
            #expect(full[string: "detail"]?.contains(database) == true && full[string: "level"] == "error")
            #expect(try await server.process.line(of: "disk_free")[string: "level"] == "info")
            try await server.kill()
            let next = try await Server(in: folder, database: database)
            let nextPort = next.port
            let violation = try await blocking { try client.violation(at: nextPort) }
            #expect(violation == nil)
            try await next.kill()
        }
    }

    @Test("a disk without room for a backup is said, and the server goes on")
    func backup() async throws {
        try await withFolder([:]) { _, folder in
            let disk = try SmallDisk()
            defer { disk.unmount() }
            let server = try ProgramProcess([
                "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--store",
                "sqlite:\(folder)/sessions.db", "--set", "backup.directory=\(disk.path)",
            ])
            let port = try await server.ports().publicPort
            let failed = try await server.line(of: "backup_failed")
            #expect(failed[string: "detail"]?.contains("MiB of room, and a backup needs 64: make room") == true)
            #expect(try await TestClient(port: port).get("/health/ready").status == 200)
            server.send(SIGTERM)
            #expect(try await server.result().status == 0)
        }
    }

    @Test("a log is copied to the database before it fills the disk, while the server runs and when it starts")
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
                // Three times the size of the disk.
                for _ in 0..<400 { #expect(try Self.put("extra", on: connection, token: session.token) == 200) }
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

    @Test(
        "a server that starts on a full disk reads, is ready, ends sessions, and writes once there is room",
        arguments: [SIGTERM, SIGKILL])
    func fullAtStart(endBefore: Int32) async throws {
        try await withFolder(Server.files) { _, folder in
            let disk = try SmallDisk()
            defer { disk.unmount() }
            let database = "\(disk.path)/sessions.db"
            let first = try await Server(in: folder, database: database)
            let firstPort = first.port
            let (begun, other) = try await blocking {
                let connection = try Connection(port: firstPort)
                var client = OneSession(try connection.newSession())
                client.write(10, to: firstPort)
                return (client, try connection.newSession())
            }
            first.process.send(endBefore)
            _ = try await first.process.result()
            try disk.fill()
            let server = try await Server(in: folder, database: database)
            // The start has emptied the log.
            try disk.fill()
            let port = server.port
            let client = try await blocking {
                let connection = try Connection(port: port)
                var client = begun
                #expect(try client.violation(at: port) == nil)
                #expect(try Self.put("extra", on: connection, token: client.token) == 507)
                #expect(try connection.send("POST", "/v1/sessions").status == 507)
                #expect(try connection.send("GET", "/health/ready").status == 200)
                #expect(try connection.send("DELETE", Connection.Session.path, token: other.token).status == 204)
                #expect(try connection.state(token: other.token).isEnded)
                try disk.empty()
                try Self.waitForRoom(connection, client.token)
                client.write(10, to: port)
                #expect(client.acknowledged == 20)
                return client
            }
            try await server.kill()
            let next = try await Server(in: folder, database: database)
            let nextPort = next.port
            try await blocking {
                let violation = try client.violation(at: nextPort)
                #expect(violation == nil)
                let state = try Connection(port: nextPort).state(token: other.token)
                #expect(state.isEnded)
            }
            try await next.kill()
        }
    }

    /// Waits for at most two seconds. Each write makes the store try again, so asking is the event.
    private static func waitForRoom(_ connection: Connection, _ token: String) throws {
        let end = ContinuousClock.now + .seconds(2)
        while try put("extra", on: connection, token: token) != 200, ContinuousClock.now < end {}
        #expect(ContinuousClock.now < end)
    }

    /// Fills the log with writes to a service that the model does not know.
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

    /// Takes all free room.
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
