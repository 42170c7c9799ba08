import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

@Suite("The time that a request took")
struct DurationTests {
    @Test("is what its handler took at least, and what its client saw at most, however long nothing came before it")
    func isInBetween() async throws {
        let recorder = Recorder()
        let clock = ContinuousClock()
        let handled = Mutex<[Duration]>([])
        try await withServer(observer: recorder) { routes in
            routes.on(.get, "/at-once") { _ in
                let began = clock.now
                while clock.now < began + .milliseconds(2) {}
                handled.withLock { $0.append(began.duration(to: clock.now)) }
                return HTTPResponse()
            }
            routes.on(.get, "/later") { _ in
                let began = clock.now
                while clock.now < began + .milliseconds(2) { await Task.yield() }
                handled.withLock { $0.append(began.duration(to: clock.now)) }
                return HTTPResponse()
            }
        } _: { server in
            let port = server.port
            let seen = try await blocking {
                let connection = try RawConnection(port: port)
                var seen: [Duration] = []
                for path in ["/at-once", "/later", "/later", "/at-once", "/at-once"] {
                    let pause = clock.now + .milliseconds(30)
                    while clock.now < pause {}
                    let began = clock.now
                    try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
                    _ = try connection.readResponse()
                    seen.append(began.duration(to: clock.now))
                }
                return seen
            }
            let durations = recorder.durations
            #expect(durations.count == seen.count)
            for (duration, seen) in zip(durations, seen) { #expect(duration <= seen) }
            for (duration, handled) in zip(durations, handled.withLock { $0 }) { #expect(duration >= handled) }
        }
    }
}
