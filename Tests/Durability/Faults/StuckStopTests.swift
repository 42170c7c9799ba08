import Glibc
import HTTPTestClient
import Support
import Testing

@Suite("A worker that is stuck", .enabled(if: Strace.isUsable, Strace.missing))
struct StuckStopTests {
    @Test(
        "makes the server not ready after five seconds. It does not hold up a stop: as long after drain_timeout the process ends"
    )
    func stuck() async throws {
        try await withFolder(Server.files) { _, folder in
            let server = try await Server(in: folder, settings: ["drain_timeout=1s"])
            try Strace.holdUpWorker(of: server.process)
            // Enough that each worker has some.
            let clients = try (0..<24).map { _ in try RawConnection(port: server.port) }
            for client in clients { try client.send("GET /version HTTP/1.1\r\nHost: h\r\n\r\n") }
            let port = server.adminPort
            let ready = try await blocking {
                let admin = try Connection(port: port)
                var ready = try admin.send("GET", "/health/ready")
                let deadline = ContinuousClock.now + .seconds(60)
                while ready.status == 200, .now < deadline { ready = try admin.send("GET", "/health/ready") }
                return ready
            }
            #expect(ready.status == 503 && ready.text.contains("A worker has been busy with one request for 5 s."))
            server.process.send(SIGTERM)
            let result = try await server.process.result()
            #expect(result.status == 1)
            #expect(result.lines.last?.contains(#""stop_overdue""#) == true, "\(result.complaints)")
            withExtendedLifetime(clients) {}
        }
    }
}
