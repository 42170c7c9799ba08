import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Synchronization
import Testing

/// Two servers with one Redis: whichever is asked, the answer is the same.
@Suite("Servers that share their sessions")
struct SharedStoreTests {
    /// A server of its own, and how to reach it.
    private struct Server {
        let process: ProgramProcess
        let client: TestClient
        let admin: TestClient

        init(_ redis: RedisTestServer, _ settings: [String] = []) async throws {
            process = try ProgramProcess(
                [
                    "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--store",
                    "redis://127.0.0.1:\(redis.port)", "--set", "main_flow=wizard", "--flows", "config/flows",
                    // Nobody reads so many lines before it ends.
                    "--set", "log.requests=false", "--set", "store_grace=0s",
                    "--services", "config/services",
                ] + settings)
            let ports = try await process.ports()
            (client, admin) = (TestClient(port: ports.publicPort), TestClient(port: ports.adminPort))
        }
    }

    private static func withServers(
        _ body: (_ redis: RedisTestServer, _ one: Server, _ two: Server) async throws -> Void
    ) async throws {
        let redis = try RedisTestServer()
        let (one, two) = (try await Server(redis), try await Server(redis))
        try await body(redis, one, two)
        for server in [one, two] {
            server.process.send(SIGTERM)
            #expect(try await server.process.result().status == 0)
        }
    }

    @Test("a session is everywhere as the last answer left it")
    func coherence() async throws {
        try await Self.withServers { _, one, two in
            let token = try #require(try await one.client.send("POST", Paths.sessions)[member: "token"]?.string)
            let clients = [one.client.with(token: token), two.client.with(token: token)]
            for number in 0..<20 {
                let (here, there) = (clients[number % 2], clients[(number + 1) % 2])
                let written = try await here.patch(Paths.profile, #"{"attributes":{"n":\#(number)}}"#)
                #expect(written.status == 200)
                let read = try await there.get(Paths.profile)
                #expect(read["ETag"] == written["ETag"])
                #expect(read[member: "attributes"]?[member: "n"]?.int == number)
                // The tag of the state before it is refused, wherever it is sent.
                if let old = try? await here.get(Paths.profile)["ETag"], number % 5 == 0 {
                    #expect(try await there.patch(Paths.profile, "{}").status == 200)
                    let refused = try await here.patch(Paths.profile, "{}", fields: [("If-Match", old)])
                    #expect(refused.status == 412)
                }
            }
            // A journey goes on at the other server.
            let begun = try await clients[0].get(Paths.main)
            let there = try await clients[1].get(Paths.main)
            #expect(there["ETag"] == begun["ETag"])
            // A user who signs out at one is signed out at the other.
            #expect(try await clients[0].send("DELETE", Paths.current).status == 204)
            #expect(try await clients[1].get(Paths.profile).status == 401)
        }
    }

    @Test("a stream at one server tells what the other changes")
    func stream() async throws {
        try await Self.withServers { _, one, two in
            let token = try #require(try await one.client.send("POST", Paths.sessions)[member: "token"]?.string)
            let (here, there) = (one.client.with(token: token), two.client.with(token: token))
            let stream = try await EventReader.open(there)
            for number in 0..<3 {
                let written = try await here.patch(Paths.profile, #"{"attributes":{"n":\#(number)}}"#)
                let changed = try #require(try await stream.next())
                #expect(changed.name == "service.changed" && changed["etag"]?.string == written["ETag"])
            }
        }
    }

    @Test("a stream goes on at the other server, which tells what was missed")
    func resumed() async throws {
        try await Self.withServers { _, one, two in
            let token = try #require(try await one.client.send("POST", Paths.sessions)[member: "token"]?.string)
            let (here, there) = (one.client.with(token: token), two.client.with(token: token))
            let stream = try await EventReader.open(here)
            #expect(try await here.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
            _ = try await stream.next()
            let last = try #require(stream.lastID)
            let written = try await here.patch(Paths.service("quote"), #"{"author":"Alan"}"#)
            let shown = try await here.get(Paths.main)
            #expect(try await here.send("POST", Paths.main + "/events", json: #"{"event":"next"}"#).status == 200)
            let going = try await EventReader.open(there, after: last)
            #expect(going.head.status == 200 && going.lastID == last)
            var missed: [EventReader.Event] = []
            repeat { missed.append(try #require(try await going.next())) } while missed.last?.id == nil
            let changed = missed.filter { $0.name == "service.changed" }
            #expect(Set(changed.compactMap { $0["service"]?.string }) == ["quote", "coordinator"])
            #expect(changed.contains { $0["etag"]?.string == written["ETag"] })
            let moved = try #require(missed.first { $0.name == "journey.moved" })
            let now = try await there.get(Paths.main)
            #expect(moved["etag"]?.string == now["ETag"] && now["ETag"] != shown["ETag"])
            let next = try await here.patch(Paths.profile, #"{"name":"Grace"}"#)
            #expect(try await going.next()?["etag"]?.string == next["ETag"])
        }
    }

    @Test("a request that is repeated at the other server is done once")
    func idempotency() async throws {
        try await Self.withServers { _, one, two in
            let fields = [("Idempotency-Key", "0e5cbd4b-7e9f-4f1e-9f0b-3b1f8f6f3a11")]
            let first = try await one.client.send("POST", Paths.sessions, fields: fields)
            var again = try await two.client.send("POST", Paths.sessions, fields: fields)
            // The first server keeps its response behind the answer.
            while again.status == 409 { again = try await two.client.send("POST", Paths.sessions, fields: fields) }
            #expect(first.status == 201 && again.status == 201 && again["Idempotency-Replayed"] == "true")
            #expect(first[member: "token"]?.string == again[member: "token"]?.string)
            let other = try await two.client.send(
                "POST", Paths.sessions, json: #"{"labels":{"a":"b"}}"#, fields: fields)
            #expect(other.status == 422)
        }
    }

    @Test("without Redis requests are 503, never 401 or 404; with it they are answered again")
    func outage() async throws {
        let redis = try RedisTestServer()
        let server = try await Server(redis)
        let token = try #require(try await server.client.send("POST", Paths.sessions)[member: "token"]?.string)
        let client = server.client.with(token: token)
        #expect(try await client.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
        redis.kill()
        for _ in 0..<5 {
            for response in [try await client.get(Paths.profile), try await client.patch(Paths.profile, "{}")] {
                #expect(response.status == 503 && response["Retry-After"] != nil)
            }
        }
        #expect(try await server.admin.get("/health/ready").status == 503)
        try redis.start()
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        while try await client.get(Paths.profile).status != 200, start.duration(to: clock.now) < .seconds(30) {}
        #expect(try await client.get(Paths.profile)[member: "name"]?.string == "Ada")
        #expect(try await server.admin.get("/health/ready").status == 200)
        server.process.send(SIGTERM)
        #expect(try await server.process.result().status == 0)
    }

    /// What a client was told of a write.
    private struct Write: Sendable {
        let session: Int
        let number: Int
        /// Nil for an answer that says nothing about it: 503.
        let tag: String?
    }

    @Test("while Redis is killed under load, no acknowledged write is lost and none is done twice")
    func history() async throws {
        try await Self.withServers { redis, one, two in
            var tokens: [String] = []
            for _ in 0..<3 {
                tokens.append(try #require(try await one.client.send("POST", Paths.sessions)[member: "token"]?.string))
            }
            let clients = tokens.map { [one.client.with(token: $0), two.client.with(token: $0)] }
            let isOver = Flag()
            let writes = try await withThrowingTaskGroup(of: [Write].self) { group in
                for worker in 0..<6 {
                    group.addTask {
                        var writes: [Write] = []
                        while !isOver.isSet {
                            let session = writes.count % clients.count
                            let (reader, writer) = (clients[session][worker % 2], clients[session][(worker + 1) % 2])
                            let read = try await reader.get(Paths.profile)
                            guard read.status == 200, let tag = read["ETag"] else {
                                #expect(read.status == 503)
                                continue
                            }
                            let number = (read[member: "attributes"]?[member: "n"]?.int ?? 0) + 1
                            let written = try await writer.patch(
                                Paths.profile, #"{"attributes":{"n":\#(number)}}"#, fields: [("If-Match", tag)])
                            switch written.status {
                            case 200: writes.append(Write(session: session, number: number, tag: written["ETag"]))
                            case 503: writes.append(Write(session: session, number: number, tag: nil))
                            default: #expect(written.status == 412 || written.status == 409, "\(written.text)")
                            }
                        }
                        return writes
                    }
                }
                for _ in 0..<3 {
                    try await Self.wait(for: clients[0][0], toPass: 30)
                    redis.kill()
                    try redis.start()
                }
                try await Self.wait(for: clients[0][1], toPass: 30)
                isOver.set()
                return try await group.reduce([], +)
            }
            for (session, pair) in clients.enumerated() {
                let last = try #require(try await pair[0].get(Paths.profile)[member: "attributes"]?[member: "n"]?.int)
                let mine = writes.filter { $0.session == session }
                let done = mine.filter { $0.tag != nil }
                // Each number was written once, from the one before it.
                #expect(Set(done.map(\.number)).count == done.count && Set(done.map(\.tag)).count == done.count)
                #expect(done.map(\.number).max() ?? 0 <= last)
                // What nobody was told of may have been done as well.
                let unknown = Set(mine.filter { $0.tag == nil }.map(\.number))
                #expect(Set(1...last).subtracting(done.map(\.number)).isSubset(of: unknown), "session \(session)")
            }
        }
    }

    /// Waits until so many more numbers have been written.
    private static func wait(for client: TestClient, toPass count: Int) async throws {
        var first: Int?
        while true {
            let read = try await client.get(Paths.profile)
            guard read.status == 200 else { continue }
            let number = read[member: "attributes"]?[member: "n"]?.int ?? 0
            first = first ?? number
            if number >= (first ?? 0) + count { return }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
