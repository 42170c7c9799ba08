import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("deploy/systemd")
struct SystemdTests {
    /// The settings of a unit file, by their names.
    private static func unit(_ name: String) throws -> [Substring: Substring] {
        var settings: [Substring: Substring] = [:]
        for line in try ShippedFiles.text("deploy/systemd/\(name)").split(separator: "\n") where !line.hasPrefix("#") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            settings[line[..<equals]] = line[line.index(after: equals)...]
        }
        return settings
    }

    /// Does what systemd does: it makes the sockets, passes them on, and hears of the state.
    private struct Manager {
        let folder: String
        let sockets: [Int32]
        let notifications: Int32

        /// - Parameter count: how many sockets it makes.
        init(in folder: String, sockets count: Int = 1) throws {
            self.folder = folder
            let notifications = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            try #require(withSocketAddress("\(folder)/notify") { bind(notifications, $0, $1) } == 0)
            self.notifications = notifications
            var patience = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(notifications, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            sockets = try (0..<count).map { _ in
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                var loopback = sockaddr_in()
                loopback.sin_family = sa_family_t(AF_INET)
                loopback.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                let isBound = withUnsafePointer(to: &loopback) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    }
                }
                try #require(isBound && listen(descriptor, 16) == 0)
                return descriptor
            }
        }

        func end() { for descriptor in sockets + [notifications] { close(descriptor) } }

        func port(_ place: Int = 0) -> UInt16 {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(sockets[place], $0, &size) }
            }
            return UInt16(bigEndian: address.sin_port)
        }

        /// Starts the program as the unit says, on free ports where it does not, and without a file.
        func start(
            _ arguments: [String] = [], named names: String = "public", watchdog: String? = nil
        ) throws -> ProgramProcess {
            let command = try #require(try SystemdTests.unit("concierge.service")["ExecStart"]).split(separator: " ")
            #expect(command.first == "/usr/bin/concierge" && command.contains("--config"))
            let file = try #require(command.firstIndex(of: "--config"))
            var given = command.dropFirst().map(String.init)
            given.removeSubrange(file - 1...file)
            var environment = [
                "LISTEN_FDS": "\(sockets.count)", "LISTEN_FDNAMES": names, "NOTIFY_SOCKET": "\(folder)/notify",
            ]
            environment["WATCHDOG_USEC"] = watchdog
            return try ProgramProcess(
                given + ["--admin-port", "0", "--store", "memory"] + arguments, environment: environment,
                // Only the program itself knows its number before it starts.
                through: ["/bin/sh", "-c", #"LISTEN_PID=$$ exec "$@""#, "sh"], passing: sockets)
        }

        /// The next state that the program tells.
        func state() async throws -> String {
            try await blocking { [notifications] in
                var bytes = [UInt8](repeating: 0, count: 256)
                let count = recv(notifications, &bytes, bytes.count, 0)
                try #require(count > 0, "nothing came for too long")
                return String(decoding: bytes[..<count], as: UTF8.self)
            }
        }
    }

    private static func withManager(sockets: Int = 1, _ body: (Manager) async throws -> Void) async throws {
        try await withFolder([:]) { _, folder in
            let manager = try Manager(in: folder, sockets: sockets)
            defer { manager.end() }
            try await body(manager)
        }
    }

    @Test("are files that agree with each other and with the program")
    func files() throws {
        let (service, socket) = (try Self.unit("concierge.service"), try Self.unit("concierge.socket"))
        #expect(service["Type"] == "notify" && service["WatchdogSec"] != nil)
        #expect(service["ExecStart"]?.hasSuffix("--host systemd") == true)
        #expect(socket["FileDescriptorName"] == "public" && socket["ListenStream"] == "8080")
        let stop = Duration.seconds(try #require(service["TimeoutStopSec"].flatMap { Int($0.dropLast()) }))
        // Five seconds later a request that still runs is given up.
        #expect(stop > Configuration().drainTimeout + .seconds(5))
    }

    @Test("the program serves at the socket, and tells when it is ready, that it works, and that it stops")
    func life() async throws {
        try await Self.withManager { manager in
            let process = try manager.start(watchdog: "200000")
            let line = try await process.line(of: "listening")
            #expect(line[string: "public"] == "http://127.0.0.1:\(manager.port())")
            #expect(try await manager.state() == "READY=1")
            #expect(try await TestClient(port: manager.port()).send("POST", Paths.sessions).status == 201)
            for _ in 0..<3 { #expect(try await manager.state() == "WATCHDOG=1") }
            process.send(SIGTERM)
            var state = try await manager.state()
            while state == "WATCHDOG=1" { state = try await manager.state() }
            #expect(state == "STOPPING=1")
            #expect(try await process.result().status == 0)
        }
    }

    @Test("a client that connects while no server runs is served by the next one")
    func restart() async throws {
        try await Self.withManager { manager in
            let first = try manager.start()
            #expect(try await manager.state() == "READY=1")
            #expect(try await TestClient(port: manager.port()).get("/version").status == 200)
            first.send(SIGTERM)
            #expect(try await first.result().status == 0)
            let port = manager.port()
            let waiting = try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send("GET /version HTTP/1.1\r\nHost: h\r\n\r\n")
                return Waiting(connection: connection)
            }
            let second = try manager.start()
            #expect(try await blocking { try waiting.connection.readResponse().status } == 200)
            second.send(SIGTERM)
            #expect(try await second.result().status == 0)
        }
    }

    @Test("two sockets are told apart by their names, in any order")
    func names() async throws {
        try await Self.withManager(sockets: 2) { manager in
            let key = ["--admin-host", "systemd", "--set", "admin.key=0123456789abcdef"]
            let process = try manager.start(key, named: "admin:public")
            #expect(try await manager.state() == "READY=1")
            let admin = TestClient(port: manager.port(0)).with("X-Admin-Key", "0123456789abcdef")
            #expect(try await admin.get("/v1/stats").status == 200)
            #expect(try await TestClient(port: manager.port(1)).send("POST", Paths.sessions).status == 201)
            process.send(SIGTERM)
            #expect(try await process.result().status == 0)
            let refused = try await manager.start(key, named: "concierge.socket:concierge.socket").result()
            #expect(refused.status == 1)
            #expect(refused.complaints.contains("no socket named public (FileDescriptorName=public), but concierge."))
        }
    }

    @Test("without a socket the program says that it got none")
    func none() async throws {
        let refused = try await ProgramProcess.run(["serve", "--host", "systemd", "--store", "memory"])
        #expect(refused.status == 1 && refused.complaints.contains("systemd has passed no socket to this process"))
        // Whoever started it may have had some.
        let environment = ["LISTEN_FDS": "1", "LISTEN_PID": "1"]
        let others = try await ProgramProcess.run(
            ["serve", "--host", "systemd", "--store", "memory"], environment: environment)
        #expect(others.status == 1 && others.complaints.contains("systemd has passed no socket to this process"))
    }
}

/// A connection that one thread hands to another.
private struct Waiting: @unchecked Sendable {
    // Safe: one thread at a time uses it.
    let connection: RawConnection
}
