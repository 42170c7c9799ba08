import HTTPTestClient
import Support
import Synchronization
import Testing

/// Clients of a balancer. Each of them notes what was refused or broke off, and what was acknowledged.
final class UpgradeLoad: Sendable {
    /// What a session's last acknowledged write has left.
    struct Acknowledged: Sendable {
        let token: String
        var number = 0
        var tag = ""
    }

    private struct Notes {
        var failures: [String] = []
        var requests = 0
        var streams = 0
        var events = 0
        /// Sessions that were created with a key.
        var created: [(key: String, token: String)] = []
    }

    private let port: UInt16
    private let notes = Mutex(Notes())
    private let isOver = Atomic(false)

    init(port: UInt16) { self.port = port }

    var failures: [String] { notes.withLock(\.failures) }
    var requests: Int { notes.withLock(\.requests) }
    var streams: (opened: Int, events: Int) { notes.withLock { ($0.streams, $0.events) } }
    var created: [(key: String, token: String)] { notes.withLock(\.created) }

    func end() { isOver.store(true, ordering: .relaxed) }

    /// Until ``end()``.
    /// - Returns: what the last acknowledged write of each session has left.
    func run(tokens: [String]) async throws -> [Acknowledged] {
        try await withThrowingTaskGroup(of: Acknowledged?.self) { group in
            for token in tokens {
                group.addTask { try await blocking { try self.write(Acknowledged(token: token)) } }
            }
            // The last session has a stream and waiting requests besides.
            let watched = TestClient(port: port).with(token: tokens[tokens.count - 1])
            group.addTask { try await blocking { try self.create() } }
            group.addTask { try await blocking { try self.wait(watched) } }
            group.addTask { try await self.watch(watched) }
            return try await group.reduce(into: []) { if let done = $1 { $0.append(done) } }
        }
    }

    /// A connection that is kept as long as the balancer lets it.
    private final class Visitor {
        let client: TestClient
        private var connection: RawConnection?

        init(_ client: TestClient) { self.client = client }

        func send(_ bytes: [UInt8]) throws -> TestResponse {
            let connection = try connection ?? RawConnection(port: client.port)
            self.connection = nil
            try connection.send(bytes)
            let response = try connection.readResponse()
            if response["Connection"]?.lowercased() != "close" { self.connection = connection }
            return response
        }
    }

    /// Sends a request that has to get one of these statuses; nil when it does not.
    private func send(_ visitor: Visitor, _ request: String, _ bytes: [UInt8], expects: [Int]) -> TestResponse? {
        notes.withLock { $0.requests += 1 }
        do {
            let response = try visitor.send(bytes)
            guard !expects.contains(response.status) else { return response }
            fail("\(request): \(response.status) \(response.text)")
        } catch {
            fail("\(request): \(error)")
        }
        return nil
    }

    private func fail(_ text: String) { notes.withLock { $0.failures.append(text) } }

    private var goesOn: Bool { !isOver.load(ordering: .relaxed) && notes.withLock(\.failures.count) < 20 }

    /// Writes, each time on condition that nothing has happened since the last answer, and reads.
    private func write(_ start: Acknowledged) throws -> Acknowledged {
        var done = start
        let visitor = Visitor(TestClient(port: port).with(token: start.token))
        var isLast = false
        while !isLast {
            // The stream waits for the event of a write that began after the end.
            isLast = !goesOn
            let condition = done.tag.isEmpty ? [] : [("If-Match", done.tag)]
            let patch = visitor.client.request(
                "PATCH", Paths.profile, json: #"{"attributes":{"n":\#(done.number + 1)}}"#,
                fields: condition + [("Content-Type", "application/merge-patch+json")])
            guard let written = send(visitor, "PATCH \(done)", patch, expects: [200]) else { continue }
            done.number += 1
            done.tag = written["ETag"] ?? ""
            guard let read = send(visitor, "GET", visitor.client.request("GET", Paths.profile), expects: [200]),
                read["ETag"] != done.tag || read[member: "attributes"]?[member: "n"]?.int != done.number
            else { continue }
            fail("GET shows \(read["ETag"] ?? "-"), \(read.text) after \(done)")
        }
        return done
    }

    /// Creates sessions, each with a key of its own.
    private func create() throws -> Acknowledged? {
        let visitor = Visitor(TestClient(port: port))
        var number = 0
        while goesOn {
            number += 1
            let key = "upgrade-\(port)-\(number)-0123456789"
            let bytes = visitor.client.request("POST", Paths.sessions, fields: [("Idempotency-Key", key)])
            guard let answer = send(visitor, "POST", bytes, expects: [201]) else { continue }
            notes.withLock { $0.created.append((key, answer[member: "token"]?.string ?? "")) }
        }
        return nil
    }

    /// Waits for changes.
    private func wait(_ client: TestClient) throws -> Acknowledged? {
        let visitor = Visitor(client)
        var tag = #""0""#
        while goesOn {
            let fields = [("If-None-Match", tag), ("Prefer", "wait=5")]
            let bytes = client.request("GET", Paths.profile, fields: fields)
            guard let answer = send(visitor, "waiting GET", bytes, expects: [200, 304]) else { continue }
            tag = answer["ETag"] ?? tag
        }
        return nil
    }

    /// Reads the stream of events, and opens it again where it ended.
    private func watch(_ client: TestClient) async throws -> Acknowledged? {
        var last: String?
        do {
            while goesOn {
                let stream = try await EventReader.open(client, after: last)
                notes.withLock { $0.streams += 1 }
                guard stream.head.status == 200 else {
                    fail("stream: \(stream.head.status)")
                    return nil
                }
                while goesOn, let event = try await stream.next(), event.name != "stream.closed" {
                    notes.withLock { $0.events += 1 }
                }
                last = stream.lastID
            }
        } catch {
            fail("stream: \(error)")
        }
        return nil
    }
}
