import HTTPTestClient
import RedisTestServer
import Support
import Testing

/// A proxy with the file that is shipped for it, which compresses besides whatever it can.
final class ShippedProxy: Sendable {
    enum Kind: String, CaseIterable, Sendable { case nginx, haproxy, caddy }

    let port: UInt16
    private let process: ProgramProcess

    /// - Parameter folder: for its files, until it has ended.
    init(_ kind: Kind, to server: UInt16, in folder: String) async throws {
        let port = try RedisTestServer.freePort()
        self.port = port
        let text: String
        let command: [String]
        var environment: [String: String] = [:]
        switch kind {
        case .nginx:
            text = try Self.nginx(port, server, folder)
            command = ["/usr/sbin/nginx", "-e", "stderr", "-c"]
        case .haproxy:
            text = try Self.haproxy()
            command = ["/usr/sbin/haproxy", "-db", "-f"]
            environment = try Self.places(port, server)
        case .caddy:
            text = try Self.caddy(port, server)
            command = ["/usr/bin/caddy", "run", "--adapter", "caddyfile", "--config"]
            environment = ["HOME": folder]
        }
        let path = "\(folder)/\(kind.rawValue)"
        try ShippedFiles.write(text, to: path)
        process = try ProgramProcess(command: command + [path], environment: environment)
        try await isReady()
    }

    /// Until it has found the server.
    private func isReady() async throws {
        try await blocking { [port] in
            let latest = ContinuousClock.now + .seconds(60)
            while (try? RawConnection(port: port).get("/health/ready").status) != 200 {
                try #require(ContinuousClock.now < latest, "the proxy does not find the server")
            }
        }
    }

    private static func nginx(_ port: UInt16, _ server: UInt16, _ folder: String) throws -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        // One process, which ends with the test.
        return """
            daemon off; master_process off; pid \(folder)/pid; error_log stderr;
            events {}
            http {
                access_log off; gzip on; gzip_proxied any; gzip_min_length 20; gzip_types *;
                \(temporary.joined(separator: " "))
                \(try ShippedFiles.text("deploy/proxies/nginx.conf")
                    .replacing("listen 80;", with: "listen 127.0.0.1:\(port);")
                    .replacing("127.0.0.1:8080", with: "127.0.0.1:\(server)"))
            }
            """
    }

    private static func haproxy() throws -> String {
        try ShippedFiles.text("deploy/compose/haproxy.cfg")
            .replacing("    default_backend", with: "    compression algo gzip\n    default_backend")
    }

    /// At the second place there is no server.
    private static func places(_ port: UInt16, _ server: UInt16) throws -> [String: String] {
        [
            "LISTEN": "127.0.0.1:\(port)", "CONCIERGE_1": "127.0.0.1:\(server)",
            "CONCIERGE_2": "127.0.0.1:\(try RedisTestServer.freePort())",
        ]
    }

    private static func caddy(_ port: UInt16, _ server: UInt16) throws -> String {
        let site = """
            {
            admin off
            }
            http://127.0.0.1:\(port) {
            bind 127.0.0.1
            encode {
            gzip
            minimum_length 1
            }
            """
        return try ShippedFiles.text("deploy/proxies/Caddyfile")
            .replacing(":80 {", with: site).replacing("127.0.0.1:8080", with: "127.0.0.1:\(server)")
    }
}
