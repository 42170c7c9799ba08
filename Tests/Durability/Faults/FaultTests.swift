import Glibc
import HTTPTestClient
import Support
import Synchronization
import Testing

@Suite("A system call fails, or is the last one", .enabled(if: Strace.isUsable, Strace.missing), .serialized)
struct FaultTests {
    /// All of them in the long form, a few otherwise.
    private static let isLong = getenv("TORTURE_SECONDS") != nil

    struct Fault: Sendable, CustomTestStringConvertible {
        let call: String
        let number: Int
        var testDescription: String { "\(call) \(number)" }
    }

    private static let writes = 16

    /// More numbers than there are calls: a run that does not reach its call ends at once.
    static let kills: [Fault] = ["pwrite64", "fdatasync", "ftruncate"].flatMap { call -> [Fault] in
        let few = call == "ftruncate" ? [2] : [2, 23]
        return (isLong ? Array(1...(call == "pwrite64" ? 600 : 60)) : few).map { Fault(call: call, number: $0) }
    }

    /// For each call a number that two runs in a row did not reach.
    private static let beyond = Mutex<[String: Int]>([:])

    /// The load writes, creates and ends sessions, and finally asks the program to stop, which copies the log to the
    /// database and truncates it. Each thread counts its own calls.
    @Test("killed at its Nth call, for every N, the program loses nothing that it acknowledged", arguments: kills)
    func kill(at fault: Fault) async throws {
        guard Self.beyond.withLock({ $0[fault.call, default: 0] }) < 2 else { return }
        try await withFolder(Server.files) { _, folder in
            let session = try await Self.newSession(in: folder)
            var client = OneSession(session)
            var others = ComingAndGoing()
            // It may be killed before it listens.
            let process = try Server.spawn(in: folder, through: Strace.killing(at: fault.call, fault.number))
            if let port = try? await process.ports().publicPort {
                (client, others) = try await blocking { [client] in
                    var (client, others) = (client, ComingAndGoing())
                    for _ in 0..<Self.writes {
                        client.write(1, to: port)
                        others.goOn(at: port)
                    }
                    return (client, others)
                }
            }
            process.send(SIGTERM)
            let wasKilled = try await process.result().status == nil
            Self.beyond.withLock { $0[fault.call] = wasKilled ? 0 : $0[fault.call, default: 0] + 1 }
            if !wasKilled, Self.isLong { print("faults: no thread comes to \(fault)") }
            #expect(wasKilled || Self.isLong, "it was to be killed, and was not")
            let server = try await Server(in: folder)
            let port = server.port
            let violations = try await blocking { [client, others] in
                try [client.violation(at: port)].compactMap(\.self) + others.violations(at: port)
            }
            #expect(violations == [])
            try await server.kill()
        }
    }

    /// Without the first four, which are of opening the file: see ``failedStart(_:)``.
    static let failures = isLong ? Array(5...24) : [5]
    /// How many syncs fail. The server's own writes try again, too, and must not use them up before anybody looks.
    private static let failed = 20

    @Test(
        "after a failed sync nothing unsynced is acknowledged; the server is unready, recovers, and loses nothing",
        arguments: failures)
    func failedSync(_ number: Int) async throws {
        try await withFolder(Server.files) { _, folder in
            let session = try await Self.newSession(in: folder)
            let server = try await Server(in: folder, through: Strace.failing("fdatasync", number, count: Self.failed))
            let port = server.port
            let client = try await blocking {
                var client = OneSession(session)
                let health = try Connection(port: port)
                var wasRefused = false
                while !wasRefused, client.writes < 40 {
                    client.write(1, to: port)
                    wasRefused = client.requests.last?.outcome == .unknown
                }
                #expect(wasRefused, "sync \(number) failed, and no write was refused")
                // Each request makes the store try again, so asking is the event.
                #expect(try health.send("GET", "/health/ready").status == 503)
                let end = ContinuousClock.now + .seconds(10)
                while try health.send("GET", "/health/ready").status != 200 {
                    guard ContinuousClock.now < end else { throw NotMended() }
                }
                let before = client.acknowledged
                client.write(6, to: port)
                #expect(client.acknowledged == before + 6)
                // The running server also shows what it acknowledged.
                #expect(try client.violation(at: port) == nil)
                return client
            }
            try await server.kill()
            try await Self.check(client, in: folder)
        }
    }

    @Test(
        "when a sync fails during the start, the program says why it does not start; or it starts and loses nothing",
        arguments: [1, 2, 3])
    func failedStart(_ number: Int) async throws {
        try await withFolder(Server.files) { _, folder in
            var client = OneSession(try await Self.newSession(in: folder))
            let process = try Server.spawn(in: folder, through: Strace.failing("fdatasync", number))
            if let port = try? await process.ports().publicPort {
                client = try await blocking { [client] in
                    var client = client
                    client.write(6, to: port)
                    let violation = try client.violation(at: port)
                    #expect(violation == nil)
                    return client
                }
                process.send(SIGKILL)
                _ = try await process.result()
            } else {
                let result = try await process.result()
                #expect(result.status ?? 0 != 0)
                #expect(result.complaints.contains("sessions.db"))
            }
            try await Self.check(client, in: folder)
        }
    }

    struct NotMended: Error {}

    private static func newSession(in folder: String) async throws -> KnownSession {
        let server = try await Server(in: folder)
        let port = server.port
        let session = try await blocking { try Connection(port: port).newSession() }
        try await server.kill()
        return session
    }

    private static func check(_ client: OneSession, in folder: String) async throws {
        let server = try await Server(in: folder)
        let port = server.port
        let violation = try await blocking { try client.violation(at: port) }
        #expect(violation == nil)
        try await server.kill()
    }
}
