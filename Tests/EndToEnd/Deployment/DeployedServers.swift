import Glibc
import HTTPTestClient
import RedisTestServer
import Support
import Testing

/// What `compose.yaml` runs as its profile `cluster`, as processes of this machine: Redis and HAProxy with the files of
/// `deploy/compose`, and servers with the settings of that profile.
final class DeployedServers: Sendable {
    struct Server: Sendable {
        let process: ProgramProcess
        let client: TestClient
        let admin: TestClient

        /// Until it has answered that many requests of a load, or the load has failed.
        func answers(_ count: Int, of load: UpgradeLoad) async throws {
            func answered() async throws -> Int {
                let lines = try await admin.get("/metrics").text.split(separator: "\n")
                return lines.filter {
                    $0.hasPrefix("concierge_http_requests_total") && $0.contains("/v1/sessions/{session}/services/")
                }.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0) { $0 + Int($1) }
            }
            let first = try await answered()
            while load.failures.isEmpty, try await answered() < first + count {}
        }

        /// SIGTERM, and what the process does until its end.
        func drain() async throws -> ProgramProcess.Result {
            process.send(SIGTERM)
            return try await process.result()
        }
    }

    private let redis: RedisTestServer
    private let balancer: ProgramProcess
    private let places: [UInt16]
    private let folder: String
    let port: UInt16
    var client: TestClient { TestClient(port: port) }

    /// - Parameters:
    ///   - folder: for the secrets and Redis' log.
    ///   - hasSpare: whether the balancer knows of a third place for servers.
    init(in folder: String, hasSpare: Bool) async throws {
        self.folder = folder
        try await Self.makeSecrets(in: folder)
        redis = try RedisTestServer([
            "--include", "\(ShippedFiles.directory)/deploy/compose/redis.conf", "--aclfile",
            "\(folder)/secrets/redis_users", "--dir", folder,
        ])
        port = try RedisTestServer.freePort()
        places = try (0..<3).map { _ in try RedisTestServer.freePort() }
        var text = try ShippedFiles.text("deploy/compose/haproxy.cfg")
        if hasSpare { text += "    server spare 127.0.0.1:\(places[2])\n" }
        try ShippedFiles.write(text, to: "\(folder)/haproxy.cfg")
        balancer = try ProgramProcess(
            command: ["/usr/sbin/haproxy", "-db", "-f", "\(folder)/haproxy.cfg"],
            environment: [
                "LISTEN": "127.0.0.1:\(port)", "CONCIERGE_1": "127.0.0.1:\(places[0])",
                "CONCIERGE_2": "127.0.0.1:\(places[1])",
            ])
    }

    /// Starts a server at a place, 0 to 2.
    func start(at place: Int) async throws -> Server {
        var environment = [
            "CONCIERGE_HOST": "127.0.0.1", "CONCIERGE_PORT": "\(places[place])", "CONCIERGE_ADMIN_PORT": "0",
            "CONCIERGE_STORE": "redis://concierge@127.0.0.1:\(redis.port)",
            "CONCIERGE_REDIS_PASSWORD_FILE": "\(folder)/secrets/redis_password", "CONCIERGE_LOG_REQUESTS": "false",
            "CONCIERGE_PROXIES_NETWORKS": "127.0.0.0/8",
        ]
        for name in ["CONCIERGE_DRAIN_DELAY", "CONCIERGE_DRAIN_TIMEOUT"] {
            let line = try #require(try ShippedFiles.text("compose.yaml").firstMatch(of: try Regex("\(name): (\\S+)")))
            environment[name] = line.output[1].substring.map(String.init)
        }
        let process = try ProgramProcess(
            [
                "serve", "--set", "main_flow=wizard", "--flows", "\(ShippedFiles.directory)/config/flows",
                "--services", "\(ShippedFiles.directory)/config/services",
            ], environment: environment)
        let ports = try await process.ports()
        return Server(
            process: process, client: TestClient(port: ports.publicPort), admin: TestClient(port: ports.adminPort))
    }

    /// Until the balancer has changed its mind about a place.
    func balancerSays(_ state: String, of place: Int) async throws {
        let server = place == 2 ? "spare" : "concierge-\(place + 1)"
        let line = try await blocking { [balancer] in
            try balancer.output { $0.contains("Server servers/\(server) is \(state)") }
        }
        _ = try #require(line, "haproxy (package haproxy) has ended")
    }

    /// Until the balancer knows of a server that is ready.
    func balancerServes() async throws {
        try await blocking { [port] in
            var status = 0
            while status != 200 {
                guard let connection = try? RawConnection(port: port) else { continue }
                try connection.send("GET /health/ready HTTP/1.1\r\nHost: h\r\n\r\n")
                status = try connection.readResponse().status
            }
        }
    }

    /// As docs/scaling.md says.
    private static func makeSecrets(in folder: String) async throws {
        let block = try DocumentationPage("docs/scaling.md").blocks.first { $0.text.contains("secrets/redis_users") }
        let lines = try #require(block).text.split(separator: "\n").filter { !$0.hasPrefix("docker ") }
        // A line that is indented goes on.
        let commands = ShellCommand.all(
            in: lines.map { $0.hasPrefix(" ") ? "\($0)" : "$ \($0)" }.joined(separator: "\n"))
        #expect(commands.count == 4)
        _ = try await ShellCommand.outputs(of: commands, in: folder, addresses: [:])
    }
}
