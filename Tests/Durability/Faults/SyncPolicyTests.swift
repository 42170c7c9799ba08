import Glibc
import HTTPTestClient
import Support
import Testing

/// The promises of `durability` concern the disk, which no kill can show. So these tests read the system calls.
@Suite("Syncs are as the policy says", .enabled(if: Strace.isUsable, Strace.missing))
struct SyncPolicyTests {
    private static let calls = ["pwrite64", "fdatasync", "sendto", "sendmsg", "writev"]

    @Test("interval: responses wait for no sync; acknowledged writes are synced in time, even without another request")
    func interval() async throws {
        try await withFolder(Server.files) { _, folder in
            let path = "\(folder)/calls"
            let server = try await Server(
                in: folder, settings: ["durability=interval", "sync_interval=500ms"],
                through: Strace.recording(Self.calls, to: path))
            let client = try await Self.client(of: server, writing: 40)
            #expect(client.acknowledged == 40)
            try await blocking {
                try Self.wait { Trace(try SyncOrderTests.text(of: path)).unsyncedSince == nil }
            }
            try await server.kill()
            let trace = Trace(serving: try SyncOrderTests.lines(of: path))
            #expect(trace.answers > 40)
            #expect(trace.answersBeforeSync > 20)
            // One more sync, which SQLite makes when it begins a log.
            #expect(trace.syncs <= Int(trace.duration / 0.5) + 2, "\(trace)")
            // Allows for a machine that is busy with other tests.
            #expect(trace.longestUnsynced < 0.5 + 3, "\(trace)")
        }
    }

    @Test(
        "without a promise, or long before it is due, there is no sync; at the end everything is synced",
        arguments: [["durability=none"], ["durability=interval", "sync_interval=1m"]])
    func late(settings: [String]) async throws {
        try await withFolder(Server.files) { _, folder in
            let path = "\(folder)/calls"
            let server = try await Server(
                in: folder, settings: settings, through: Strace.recording(Self.calls, to: path))
            let client = try await Self.client(of: server, writing: 30)
            #expect(client.acknowledged == 30)
            server.process.send(SIGTERM)
            #expect(try await server.process.result().status == 0)
            let lines = try SyncOrderTests.lines(of: path)
            let first = try #require(lines.firstIndex { $0.contains("\"HTTP/1.1 201") })
            let last = try #require(lines.lastIndex { $0.contains("\"HTTP/1.1 20") })
            #expect(lines[first...last].allSatisfy { !$0.contains("fdatasync") })
            #expect(Trace(lines[last...]).syncs > 0)
            #expect(Trace(lines[first...]).unsyncedSince == nil)
        }
    }

    @Test("interval: after a failed sync nothing is acknowledged before the log is copied to the database and synced")
    func failedSync() async throws {
        try await withFolder(Server.files) { _, folder in
            let path = "\(folder)/calls"
            let settings = ["durability=interval", "sync_interval=100ms"]
            let first = try await Server(in: folder, settings: settings)
            let session = try await blocking { try Connection(port: first.port).newSession() }
            try await first.kill()
            // The first four may be of opening the file.
            let server = try await Server(
                in: folder, settings: settings,
                through: Strace.recording(Self.calls, to: path, failing: ("fdatasync", 5)))
            let port = server.port
            let client = try await blocking {
                var client = OneSession(session)
                try Self.wait {
                    client.write(1, to: port)
                    return try SyncOrderTests.text(of: path).contains("(INJECTED)")
                }
                client.write(10, to: port)
                return client
            }
            let report = try await server.process.line(of: "store")
            #expect(report[string: "detail"]?.contains("syncing the log") == true)
            #expect(try await blocking { try client.violation(at: port) } == nil)
            try await server.kill()
            let lines = try SyncOrderTests.lines(of: path)
            let failed = try #require(lines.firstIndex { $0.contains("(INJECTED)") })
            // The first may belong to a write that was committed before the sync failed. There is one request at a
            // time.
            let answers = lines[failed...].indices.filter { lines[$0].contains("\"HTTP/1.1 200") }
            let answered = try #require(answers.dropFirst().first)
            // The log, and then the database that it was copied to.
            #expect(Trace(lines[failed..<answered]).syncs >= 2)
            let next = try await Server(in: folder, settings: settings)
            #expect(try await blocking { try client.violation(at: next.port) } == nil)
            try await next.kill()
        }
    }

    /// The only sync of a request under this policy: after a power cut no revision may be given twice.
    @Test("none: when the sync of the revision ceiling fails, the request fails")
    func failedCeiling() async throws {
        try await withFolder(Server.files) { _, folder in
            let server = try await Server(in: folder, settings: ["durability=none"])
            let session = try await blocking {
                let connection = try Connection(port: server.port)
                // SQLite makes two when it begins the log: of its header, and of the directory.
                try Strace.failSync(3, of: server.process)
                #expect(try connection.send("POST", "/v1/sessions").status == 503)
                #expect(try connection.send("GET", "/health/ready").status == 503)
                try Self.wait { try connection.send("GET", "/health/ready").status == 200 }
                return try connection.newSession()
            }
            #expect(try await server.process.line(of: "store")[string: "detail"]?.contains("syncing the log") == true)
            try await server.kill()
            let next = try await Server(in: folder)
            #expect(try await blocking { try OneSession(session).violation(at: next.port) } == nil)
            try await next.kill()
        }
    }

    private static func client(of server: Server, writing count: Int) async throws -> OneSession {
        let port = server.port
        return try await blocking {
            let session = try Connection(port: port).newSession()
            var client = OneSession(session)
            client.write(count, to: port)
            return client
        }
    }

    private struct TooLate: Error {}

    /// Waits for a call in the record: strace does not report that it has written one.
    private static func wait(for condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(20)
        while try !condition() {
            guard ContinuousClock.now < end else { throw TooLate() }
            usleep(2_000)
        }
    }
}

/// System calls in order, and how long writes stayed unsynced.
private struct Trace {
    private(set) var syncs = 0
    private(set) var answers = 0
    private(set) var answersBeforeSync = 0
    private(set) var longestUnsynced = 0.0
    /// In seconds, from the first call to the last.
    private(set) var duration = 0.0
    /// The time of the first unsynced write.
    private(set) var unsyncedSince: Double?

    /// The calls after the first response. Earlier calls belong to the program's start.
    init(serving lines: [Substring]) { self.init(lines.drop { !$0.contains("\"HTTP/1.1 201") }) }

    init(_ text: String) { self.init(serving: text.split(separator: "\n")) }

    init(_ lines: ArraySlice<Substring>) {
        var start: Double?
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let time = Double(words[1]) else { continue }
            duration = time - (start ?? time)
            start = start ?? time
            if words[2].hasPrefix("pwrite64("), !SyncOrderTests.isMark(line) { unsyncedSince = unsyncedSince ?? time }
            // Also a call that strace shows in two lines, because another thread's call interrupts it.
            if words[2].contains("fdatasync"), line.hasSuffix("= 0") {
                syncs += 1
                longestUnsynced = max(longestUnsynced, unsyncedSince.map { time - $0 } ?? 0)
                unsyncedSince = nil
            }
            guard words[2].contains("\"HTTP/1.1 20") else { continue }
            answers += 1
            if unsyncedSince != nil { answersBeforeSync += 1 }
        }
    }
}

@Suite("A worker that is stuck", .enabled(if: Strace.isUsable, Strace.missing))
struct StuckStopTests {
    @Test(
        "makes the server not ready after five seconds. It does not hold up a stop: as long after drain_timeout the process ends"
    )
    func stuck() async throws {
        try await withFolder(Server.files) { _, folder in
            // Of several, the others may take every connection.
            let server = try await Server(in: folder, settings: ["drain_timeout=1s", "workers=1"])
            try Strace.holdUpWorker(of: server.process)
            let client = try RawConnection(port: server.port)
            try client.send("GET /version HTTP/1.1\r\nHost: h\r\n\r\n")
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
            withExtendedLifetime(client) {}
        }
    }
}
