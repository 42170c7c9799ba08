import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Synchronization
import Testing

@Suite("The program")
struct ProgramTests {
    private static let free = ["--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--store", "memory"]

    private static func serve(
        _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> ProgramProcess {
        try ProgramProcess(["serve"] + free + arguments, environment: environment)
    }

    @Test(
        "serve says where it listens, answers there, and ends with 0 at SIGTERM, SIGINT and SIGQUIT",
        arguments: [SIGTERM, SIGINT, SIGQUIT])
    func serves(signal: Int32) async throws {
        let process = try Self.serve()
        let (publicPort, adminPort) = try await process.ports()
        #expect(publicPort != adminPort)
        #expect(try await TestClient(port: publicPort).get("/version")[member: "name"] == "concierge")
        // What it took, however busy the machine is with other tests: far more than it should, far less than a second.
        #expect(try isSanitized || process.processorTime() < .milliseconds(900))
        #expect(try await TestClient(port: publicPort).send("POST", Paths.sessions).status == 201)
        #expect(try await TestClient(port: adminPort).get("/v1/stats")[member: "sessions"]?[member: "live"] == 1)
        process.send(signal)
        let result = try await process.result()
        #expect(result.status == 0)
        #expect(result.output.isEmpty)
        let events = try result.lines.map { try JSONDocument(parsing: String($0))[string: "event"] }
        #expect(events.first == "listening")
        #expect(events.suffix(2) == ["draining", "stopped"])
    }

    @Test("no core is written of it, whatever the limit was")
    func core() async throws {
        let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var (former, limit) = (rlimit(), rlimit())
        #expect(getrlimit(core, &former) == 0)
        // What it inherits.
        limit = rlimit(rlim_cur: former.rlim_max, rlim_max: former.rlim_max)
        #expect(setrlimit(core, &limit) == 0)
        let process = try Self.serve()
        #expect(setrlimit(core, &former) == 0)
        _ = try await process.ports()
        let limits = try process.status("limits")
        #expect(limits.contains(#/Max core file size\s+0\s/#), "\(limits)")
        process.send(SIGTERM)
        #expect(try await process.result().status == 0)
    }

    @Test("other signals do not end it, and are logged once", arguments: [SIGUSR1, SIGUSR2, SIGALRM])
    func ignoredSignals(signal: Int32) async throws {
        let process = try Self.serve()
        let port = try await process.ports().publicPort
        process.send(signal)
        _ = try await process.line(of: "signal_ignored")
        process.send(signal)
        #expect(try await TestClient(port: port).get("/version")[member: "name"] == "concierge")
        process.send(SIGTERM)
        let result = try await process.result()
        #expect(result.status == 0)
        #expect(result.lines.count { $0.contains("signal_ignored") } == 1)
    }

    @Test(
        "a client that asks first is refused before it sends its body, and otherwise asked for it",
        arguments: [
            ("POST /v1/nothing", "application/json", 404), ("PUT /v1/sessions", "application/json", 405),
            ("POST /v1/sessions", "text/plain", 415),
            ("PUT /v1/sessions/current/services/profile", "application/json", 401),
            ("POST /v1/sessions", "application/json", 100),
        ])
    func expectation(line: String, type: String, status: Int) async throws {
        let process = try Self.serve()
        let port = try await process.ports().publicPort
        try await blocking {
            let connection = try RawConnection(port: port)
            try connection.send("\(line) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Type: \(type)\r\n")
            try connection.send("Expect: 100-continue\r\n\r\n")
            let response = try connection.readResponse(passingOverInterim: false)
            #expect(response.status == status)
            guard status == 100 else { return #expect(response["Content-Type"] == "application/problem+json") }
            try connection.send("{}")
            #expect(try connection.readResponse(passingOverInterim: false).status == 201)
        }
        process.send(SIGTERM)
        #expect(try await process.result().status == 0)
    }

    @Test("a second signal ends it at once, with 1, whatever holds it")
    func secondSignal() async throws {
        // ThreadSanitizer would say of the threads of a process that ends at once that they leak.
        let options = getenv("TSAN_OPTIONS").map { String(cString: $0) } ?? ""
        let process = try Self.serve(
            ["--set", "drain_timeout=1m"], environment: ["TSAN_OPTIONS": options + ":report_thread_leaks=0"])
        let port = try await process.ports().publicPort
        let connection = try await blocking {
            let connection = try RawConnection(port: port)
            try connection.send("POST /v1/sessions HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n")
            try connection.send("Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n")
            // The head has been read.
            #expect(try connection.readResponse(passingOverInterim: false).status == 100)
            try connection.send("{")
            return Held(connection)
        }
        process.send(SIGTERM)
        _ = try await process.line(of: "draining")
        process.send(SIGTERM)
        #expect(try await process.result().status == 1)
        withExtendedLifetime(connection) {}
    }

    @Test("a request that hangs holds it no longer than drain_timeout; then the status is still 0")
    func drainTimeout() async throws {
        let process = try Self.serve(["--set", "drain_timeout=300ms"])
        let port = try await process.ports().publicPort
        let connection = try await blocking {
            let connection = try RawConnection(port: port)
            try connection.send("POST /v1/sessions HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n{")
            return Held(connection)
        }
        process.send(SIGTERM)
        #expect(try await process.result().status == 0)
        withExtendedLifetime(connection) {}
    }

    @Test("SIGTERM under load loses no answer")
    func underLoad() async throws {
        let process = try Self.serve(["--set", "drain_timeout=10s"])
        let port = try await process.ports().publicPort
        let answered = Counter()
        let warm = Event()
        let created = try await TestClient(port: port).send("POST", Paths.sessions)
        let token = try #require(created[member: "token"]?.string)
        let client = TestClient(port: port).with(token: token)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                let request =
                    number % 2 == 0
                    ? client.request("GET", Paths.profile)
                    : client.request("PATCH", Paths.profile, json: #"{"attributes":{"a\#(number)":1}}"#)
                group.addTask {
                    try await blocking {
                        var connection = try RawConnection(port: port)
                        while true {
                            try connection.send(request)
                            // Throws when the connection ends without a whole answer: that would be a lost one.
                            let answer = try connection.readResponse()
                            // Another test's server may have taken the port over, and knows no such token.
                            if answer.status == 401 { return }
                            #expect(answer.status == 200)
                            #expect(answer[member: "name"] == "")
                            if answered.increment() == 200 { warm.happen() }
                            guard answer["Connection"]?.lowercased() == "close" else { continue }
                            #expect(connection.isClosedByPeer())
                            guard let next = try? RawConnection(port: port) else { return }
                            connection = next
                        }
                    }
                }
            }
            await warm.wait()
            process.send(SIGTERM)
            try await group.waitForAll()
        }
        let result = try await process.result()
        #expect(result.status == 0)
        let lines = result.lines.count { $0.contains("\"request\"") }
        // On a busy machine the reader of the log may be too slow for it; then it says how many lines were left out, of
        // which a few are of other events.
        let dropped = try result.lines.filter { $0.contains("\"log_dropped\"") }.map {
            try JSONDocument(parsing: Array($0.utf8))[member: "lines"]?.int ?? 0
        }
        let told = lines + dropped.reduce(0, +)
        #expect(
            dropped.isEmpty ? told == answered.value + 1 : told > answered.value,
            "every answer has its line, also the last ones")
    }

    @Test("wrong usage and configuration end with 2 and one sentence for each mistake on standard error")
    func refuses() async throws {
        for (arguments, environment, says) in [
            (["sevre"], [:], ["did you mean serve?"]), (["version", "now"], [:], ["now"]),
            (["serve", "--set", "prot=1"], [:], ["did you mean port?"]),
            (["serve", "--admin-host", "0.0.0.0"], [:], ["admin.key"]),
            (["config", "--port", "x", "--workers", "0"], [:], ["port", "workers"]),
        ] as [([String], [String: String], [String])] {
            let result = try await ProgramProcess.run(arguments, environment: environment)
            #expect(result.status == 2 && result.output.isEmpty, "\(arguments)")
            #expect(result.lines.count == says.count, "\(result.complaints)")
            for part in says { #expect(result.complaints.contains(part), "\(result.complaints)") }
        }
        let version = try await ProgramProcess.run(["version"])
        #expect(version.status == 0 && version.output.wholeMatch(of: /concierge \d+\.\d+\.\d+\n/) != nil)
    }

    @Test("a port that is taken ends it with 1 and a sentence", arguments: ["--port", "--admin-port"])
    func portInUse(flag: String) async throws {
        try await withApplication { app in
            let taken = "\(app.publicPort)"
            let arguments = Self.free.enumerated().map { index, value in
                index > 0 && Self.free[index - 1] == flag ? taken : value
            }
            let result = try await ProgramProcess.run(["serve"] + arguments)
            #expect(result.status == 1)
            let sentences = result.lines.filter { !$0.hasPrefix("{") }
            #expect(sentences.count == 1, "\(result.complaints)")
            #expect(sentences.first?.hasPrefix("concierge: ") == true)
            #expect(sentences.first?.contains(taken) == true)
        }
    }

    @Test("health is 0 when the server is ready, and 1 when nobody answers")
    func health() async throws {
        let process = try Self.serve()
        let port = try await process.ports().publicPort
        let arguments = ["health", "--host", "127.0.0.1", "--port", "\(port)"]
        #expect(try await ProgramProcess.run(arguments).status == 0)
        process.send(SIGTERM)
        #expect(try await process.result().status == 0)
        // A port that was bound here and never listened on: nobody else gets it, and nobody answers.
        let taken = try BoundPort()
        let nobody = try await ProgramProcess.run(
            ["health", "--host", "127.0.0.1", "--port", "\(taken.port)"])
        #expect(nobody.status == 1)
        #expect(nobody.lines.count == 1)
    }

    /// Keeps a connection open in an asynchronous test.
    private struct Held: @unchecked Sendable {
        let connection: RawConnection
        init(_ connection: RawConnection) { self.connection = connection }
    }
}

/// A port of this machine that is taken and on which nobody listens.
private final class BoundPort {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(isBound)
    }

    deinit { close(descriptor) }
}

private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }
    func increment() -> Int { count.add(1, ordering: .relaxed).newValue }
}
