import Glibc
import HTTPTestClient
import Support
import Testing

@Suite("When a system call fails or is the last", .enabled(if: Strace.isUsable, Strace.missing), .serialized)
struct FaultTests {
    /// All of them in the long form, a few otherwise.
    private static let isLong = getenv("TORTURE_SECONDS") != nil

    struct Fault: Sendable, CustomTestStringConvertible {
        let call: String
        let number: Int
        var testDescription: String { "\(call) \(number)" }
    }

    /// Every acknowledged write takes a sync, and so the 40th comes in time.
    private static let writes = 60

    static let kills: [Fault] = ["pwrite64", "fdatasync", "ftruncate"].flatMap { call -> [Fault] in
        let few = call == "ftruncate" ? [1] : [2, 9]
        return (isLong ? Array(1...(call == "ftruncate" ? 4 : 40)) : few).map { Fault(call: call, number: $0) }
    }

    @Test("killed at the Nth call, nothing acknowledged is lost", arguments: kills)
    func kill(at fault: Fault) async throws {
        try await withFolder(Server.files) { _, folder in
            let (token, state) = try await Self.newSession(in: folder)
            var client = OneSession(token: token, state: state)
            // It may be killed before it listens.
            let process = try Server.spawn(in: folder, through: Strace.killing(at: fault.call, fault.number))
            if let port = try? await process.ports().publicPort {
                client = try await blocking { [client] in
                    var client = client
                    client.write(Self.writes, to: port)
                    return client
                }
            }
            // The log may be written to without ever being cut.
            let wasKilled = client.acknowledged < Self.writes
            #expect(wasKilled || fault.call == "ftruncate", "it was to be killed, and was not")
            process.send(SIGKILL)
            _ = try await process.result()
            try await Self.check(client, in: folder)
        }
    }

    /// Not the first two, which are of opening the file: then the program does not start and says why, or goes on with the
    /// log as it was.
    static let failures = isLong ? Array(3...12) : [3]

    @Test(
        "after a failed sync nothing is acknowledged that was not synced; it is unready, mends itself, and loses nothing",
        arguments: failures)
    func failedSync(_ number: Int) async throws {
        try await withFolder(Server.files) { _, folder in
            let (token, state) = try await Self.newSession(in: folder)
            let server = try await Server(in: folder, through: Strace.failing("fdatasync", number))
            let port = server.port
            let client = try await blocking {
                var client = OneSession(token: token, state: state)
                let health = try Connection(port: port)
                var wasRefused = false
                while !wasRefused, client.writes < 40 {
                    client.write(1, to: port)
                    wasRefused = client.requests.last?.outcome == .unknown
                }
                #expect(wasRefused, "sync \(number) was to fail, and nobody was told so")
                // The first look asks the store to try again.
                #expect(try health.send("GET", "/health/ready").status == 503)
                let end = ContinuousClock.now + .seconds(10)
                while try health.send("GET", "/health/ready").status != 200 {
                    guard ContinuousClock.now < end else { throw NotMended() }
                    usleep(2_000)
                }
                let before = client.acknowledged
                client.write(6, to: port)
                #expect(client.acknowledged == before + 6)
                // What the running server shows is what it acknowledged, too.
                #expect(try client.violation(at: port) == nil)
                return client
            }
            try await server.kill()
            try await Self.check(client, in: folder)
        }
    }

    struct NotMended: Error {}

    private static func newSession(in folder: String) async throws -> (token: String, state: SessionState) {
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
