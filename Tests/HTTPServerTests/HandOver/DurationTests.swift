import Glibc
import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

/// What a client sees of a request is longer than what the server does, but for the moments in which its worker was not
/// run after it had looked at the clock: less than `slack`, and what is looked for is longer.
@Suite("The time that a request took")
struct DurationTests {
    private static let slack = Duration.milliseconds(100)
    private static let pause = Duration.milliseconds(250)

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
            let seen = try await server.seen { connection in
                return try ["/at-once", "/later", "/later", "/at-once", "/at-once"].map { path in
                    // Nothing is waited for: it is the time in which nothing comes.
                    usleep(useconds_t(Self.pause.components.attoseconds / 1_000_000_000_000))
                    let began = clock.now
                    try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
                    _ = try connection.readResponse()
                    return began.duration(to: clock.now)
                }
            }
            let durations = recorder.durations
            #expect(durations.count == seen.count)
            for (duration, seen) in zip(durations, seen) { #expect(duration <= seen + Self.slack) }
            for (duration, handled) in zip(durations, handled.withLock { $0 }) { #expect(duration >= handled) }
        }
    }

    @Test("does not have in it what another request's handler did on the worker before it came")
    func busyWorker() async throws {
        let recorder = Recorder()
        let clock = ContinuousClock()
        let hasArrived = Event()
        let goesOn = Event()
        let isBusy = Event()
        let isOver = Event()
        try await withServer(observer: recorder) { routes in
            routes.on(.get, "/busy") { _ in
                hasArrived.happen()
                await goesOn.wait()
                isBusy.happen()
                let began = clock.now
                while clock.now < began + Self.pause * 2 {}
                // To answer now would be to look at the clock.
                await isOver.wait()
                return HTTPResponse()
            }
            routes.on(.get, "/quick") { _ in HTTPResponse() }
        } _: { server in
            let port = server.port
            let (busy, quick) = try await blocking {
                (Handed(try RawConnection(port: port)), Handed(try RawConnection(port: port)))
            }
            try await blocking { try busy.value.send("GET /busy HTTP/1.1\r\nHost: h\r\n\r\n") }
            await hasArrived.wait()
            goesOn.happen()
            await isBusy.wait()
            let seen = try await blocking {
                usleep(useconds_t(Self.pause.components.attoseconds / 1_000_000_000_000))
                let began = clock.now
                try quick.value.send("GET /quick HTTP/1.1\r\nHost: h\r\n\r\n")
                _ = try quick.value.readResponse()
                return began.duration(to: clock.now)
            }
            isOver.happen()
            let index = try #require(recorder.targets.firstIndex(of: "/quick"))
            #expect(recorder.durations[index] <= seen + Self.slack)
        }
    }
}
