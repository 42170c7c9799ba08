import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Testing

/// Servers that start while Redis is away, or that it refuses, or that lose it.
@Suite("A store that is away")
struct StoreAwayTests {
    /// - Parameter flows: nil for none.
    private static func arguments(_ store: String, flows: String? = "config/flows") -> [String] {
        ["--store", store, "--services", "config/services"]
            + (flows.map { ["--flows", $0, "--set", "main_flow=wizard"] } ?? [])
    }

    private static func start(
        _ store: String, flows: String? = "config/flows", settings: [String] = []
    ) async throws -> ServingProgram {
        try await ServingProgram(arguments(store, flows: flows) + settings)
    }

    @Test("a server that starts without Redis says why it is not ready, refuses with 503, and opens the store later")
    func lateStart() async throws {
        let redis = try RedisTestServer()
        redis.kill()
        let server = try await Self.start("redis://127.0.0.1:\(redis.port)")
        let ready = try await server.client.get("/health/ready")
        #expect(ready.status == 503 && ready.text.contains(":\(redis.port) cannot be reached"), "\(ready.text)")
        let told = try await server.process.line(of: "store_away")
        #expect(told[string: "level"] == "error" && told[string: "detail"]?.contains("cannot be reached") == true)
        let unknown = server.client.with(token: "cg_unknown")
        for response in [
            try await server.client.send("POST", Paths.sessions), try await server.client.get(Paths.current),
            try await unknown.get(Paths.profile), try await unknown.patch(Paths.profile, "{}"),
            try await unknown.get(Paths.main), try await server.admin.get("/v1/sessions"),
            try await server.admin.get("/v1/sessions/ses_00000000000000000000000000000000"),
        ] {
            #expect(response.status == 503 && response["Retry-After"] != nil, "\(response.status) \(response.text)")
        }
        // Operators see what there is to see.
        #expect(try await server.admin.get("/v1/stats").text.contains(#""durability":"unknown""#))
        #expect(try await server.admin.get("/metrics").status == 200)
        #expect(try await server.client.get("/health/alive").status == 200)
        try redis.start()
        try await server.wait(untilReady: true)
        let token = try await server.newToken()
        #expect(try await server.client.with(token: token).get(Paths.main).status == 200)
        #expect(try await unknown.get(Paths.profile).status == 401)
        #expect(try await server.admin.get("/v1/stats").text.contains(#""durability":"commit""#))
        try await server.end()
    }

    @Test("a server that still waits for Redis stops at once")
    func stop() async throws {
        let redis = try RedisTestServer()
        redis.kill()
        let server = try await Self.start("redis://127.0.0.1:\(redis.port)")
        try await server.end()
    }

    @Test("what waiting cannot mend ends the start with a sentence")
    func refusals() async throws {
        try await withFolder([
            "wrong": "wrong word\n", "k1": "k1:\(String(repeating: "A", count: 43))=\n",
            "k2": "k2:\(String(repeating: "B", count: 42))A=\n",
        ]) { _, folder in
            let redis = try RedisTestServer()
            let store = "redis://127.0.0.1:\(redis.port)"
            let keys = ["--set", "encryption_keys_file=\(folder)/k1"]
            try await Self.start(store, settings: keys).end()
            for (settings, sentence) in [
                (keys + ["--set", "redis_password_file=\(folder)/wrong"], "it has no password for user \"default\""),
                (["--set", "encryption_keys_file=\(folder)/k2"], "encrypted with a key \"k1\""),
                ([], "encrypted with a key \"k1\""),
            ] {
                let result = try await ProgramProcess.run(ServingProgram.arguments(Self.arguments(store) + settings))
                #expect(result.status == 1)
                let last = result.lines.last ?? ""
                #expect(last.hasPrefix("concierge: ") && last.contains(sentence), "\(result.complaints)")
                #expect(!result.complaints.contains("wrong word"))
            }
        }
    }

    @Test("journeys that need a flow which is not loaded keep a server from opening the store, also later")
    func orphans() async throws {
        let redis = try RedisTestServer()
        let store = "redis://127.0.0.1:\(redis.port)"
        let first = try await Self.start(store)
        let token = try await first.newToken()
        #expect(try await first.client.with(token: token).get(Paths.main).status == 200)
        try await first.end()
        // With Redis it does not start.
        let early = try await ProgramProcess.run(ServingProgram.arguments(Self.arguments(store, flows: nil)))
        #expect(early.status == 1 && early.complaints.contains("needs version"), "\(early.complaints)")
        // Without Redis it cannot know yet.
        redis.kill()
        let late = try await Self.start(store, flows: nil)
        #expect(try await late.client.get("/health/ready").status == 503)
        try redis.start()
        let line = try await late.process.line(of: "store_not_opened")
        #expect(line[string: "detail"]?.contains("needs version") == true)
        let ready = try await late.client.get("/health/ready")
        #expect(ready.status == 503 && ready.text.contains("needs version"), "\(ready.text)")
        let refused = try await late.client.with(token: token).get(Paths.profile)
        #expect(refused.status == 503 && refused["Retry-After"] != nil)
        try await late.end()
    }

    @Test("for store_grace a server without Redis stays ready; requests get 503 meanwhile")
    func grace() async throws {
        let redis = try RedisTestServer()
        let server = try await Self.start("redis://127.0.0.1:\(redis.port)", settings: ["--set", "store_grace=3s"])
        let token = try await server.newToken()
        let client = server.client.with(token: token)
        #expect(try await client.get(Paths.profile).status == 200)
        let start = ContinuousClock.now
        redis.kill()
        for response in [try await client.get(Paths.profile), try await client.patch(Paths.profile, "{}")] {
            #expect(response.status == 503 && response["Retry-After"] != nil)
        }
        let failed = try await server.wait(untilReady: false)
        #expect(.now - start >= .seconds(3) && failed.text.contains("cannot be reached"), "\(failed.text)")
        try redis.start()
        try await server.wait(untilReady: true)
        #expect(try await client.get(Paths.profile).status == 200)
        try await server.end()
    }

    @Test("while Redis is away the log has a line a second of each kind")
    func quiet() async throws {
        let redis = try RedisTestServer()
        let server = try await Self.start("redis://127.0.0.1:\(redis.port)")
        let token = try await server.newToken()
        let client = server.client.with(token: token)
        redis.kill()
        let start = ContinuousClock.now
        for _ in 0..<200 { #expect(try await client.get(Paths.profile).status == 503) }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        let lines = try await server.end().lines
        for event in ["store_failure", "request"] {
            let count = lines.count { $0.contains(#""event":"\#(event)""#) }
            #expect((1...seconds + 2).contains(count), "\(event): \(count) in \(seconds) s")
        }
        #expect(lines.contains { $0.contains("store_failure") && $0.contains("cannot be reached") }, "\(lines)")
    }

    @Test("what Redis does with writes is in the log and in the statistics")
    func durability() async throws {
        let redis = try RedisTestServer(["--appendfsync", "everysec"])
        let process = try ProgramProcess(
            ServingProgram.arguments(Self.arguments("redis://127.0.0.1:\(redis.port)")))
        let warning = try await process.line(of: "store")
        #expect(warning[string: "level"] == "warning" && warning[string: "detail"]?.contains("everysec") == true)
        let listening = try await process.line(of: "listening")
        #expect(listening[string: "durability"] == "interval")
        let port = try #require(listening[string: "admin"]?.split(separator: ":").last.flatMap { UInt16($0) })
        let statistics = try await TestClient(port: port).get("/v1/stats")
        #expect(
            statistics[member: "store"] == ["kind": "redis", "durability": "interval", "sync_interval_ms": 1_000])
        process.send(SIGTERM)
        #expect(try await process.result().status == 0)
    }
}

extension ServingProgram {
    /// Waits until the server says that it is ready, or that it is not.
    @discardableResult
    fileprivate func wait(untilReady isReady: Bool) async throws -> TestResponse {
        let start = ContinuousClock.now
        while true {
            let response = try await client.get("/health/ready")
            if (response.status == 200) == isReady { return response }
            try #require(.now - start < .seconds(60), "\(response.text)")
        }
    }
}
