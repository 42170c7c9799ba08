import Glibc
import HTTPServer
import HTTPTestClient
import Sessions
import Support
import Synchronization
import Testing

@testable import ConciergeApp

@Suite("Readiness")
struct ReadinessTests {
    @Test("fails while a worker has been busy with one request for too long, and no longer")
    func stuckWorker() async throws {
        let release = Event()
        var routes = RouterBuilder()
        routes.on(
            .get, "/",
            handler: { _ in
                while !release.hasHappened { sched_yield() }
                return .response(HTTPResponse())
            })
        var configuration = HTTPServerConfiguration()
        configuration.workers = 1
        let server = try HTTPServer(router: routes.freeze(), configuration: configuration)
        let readiness = Readiness(store: MemoryStore(), longestTurn: .milliseconds(50))
        readiness.beginServing(on: server)
        readiness.open()
        func failures() -> [String] { readiness.checks.compactMap(\.failure) }
        #expect(failures() == [])
        let port = server.port
        async let status = blocking {
            let connection = try RawConnection(port: port)
            try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            return try connection.readResponse().status
        }
        while failures() == [] { await Task.yield() }
        #expect(failures().count == 1 && failures()[0].hasPrefix("A worker has been busy with one request for"))
        release.happen()
        #expect(try await status == 200)
        while failures() != [] { await Task.yield() }
        await server.stop(timeout: .seconds(10))
    }
}
