import HTTPServer
import HTTPTestClient
import SeededRandomness
import Synchronization
import Testing

@Suite("Handlers that finish on other threads")
struct RaceTests {
    private static let clients = 64
    private static let requestsPerClient = 200

    @Test("lose no answer around the moment of suspension")
    func noneIsLost() async throws {
        try await withServer(setting: \.workers, to: 2) { routes in
            routes.on(.get, "/{delay:int}") { request in
                let delay = Int(request.parameter("delay")) ?? 0
                // 0 does not wait at all, 1 finishes on the pool at once, the rest on the thread of delays.
                if delay == 1 { await Task.yield() }
                if delay > 1 { await Delays.shared.wait(microseconds: delay) }
                return HTTPResponse(text: "\(delay)")
            }
        } _: { server in
            let port = server.port
            try await withThrowingTaskGroup(of: Int.self) { group in
                for client in 0..<Self.clients {
                    group.addTask {
                        try await blocking {
                            var random = SeededGenerator(seed: UInt64(client))
                            let connection = try RawConnection(port: port)
                            for _ in 0..<Self.requestsPerClient {
                                // What waits for some turns of the loop is suspended after all.
                                let short = [0, 1, 2, 5, 10, 50, 100].randomElement(using: &random) ?? 0
                                let delay =
                                    Bool.random(using: &random) ? short : Int.random(in: 100...2_000, using: &random)
                                let response = try connection.get("/\(delay)")
                                #expect(response.status == 200)
                                #expect(response.text == "\(delay)")
                            }
                            return Self.requestsPerClient
                        }
                    }
                }
                var answered = 0
                for try await count in group { answered += count }
                #expect(answered == Self.clients * Self.requestsPerClient)
            }
        }
    }

    @Test("are answered without delay: resuming wakes a worker that sleeps")
    func wakes() async throws {
        try await withRoutes { routes in
            routes.on(.get, "/") { _ in
                await Delays.shared.wait(microseconds: 500)
                return HTTPResponse(text: "ok")
            }
        } _: { server in
            try await server.connected { (connection) throws in
                let clock = ContinuousClock()
                var quickest = Duration.seconds(10)
                // Were they to wait for the loop's own 250 ms, each of them would. Some take longer on a busy machine.
                for _ in 0..<200 where quickest >= .milliseconds(150) {
                    let start = clock.now
                    #expect(try connection.get().status == 200)
                    quickest = min(quickest, start.duration(to: clock.now))
                }
                #expect(quickest < .milliseconds(150))
            }
        }
    }
}
