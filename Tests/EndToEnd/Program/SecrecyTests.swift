import Glibc
import HTTPTestClient
import RedisTestServer
import Support
import Testing

/// What nobody who reads logs, metrics and errors may learn. ``Canary`` looks for it in all that ``ProgramProcess``
/// and ``GeneralRules`` see.
@Suite("Documents and secrets")
struct SecrecyTests {
    private static let word = Canary.word
    private static let adminKey = "\(Canary.word)-an-admin-key-that-is-long"

    private static func serve(_ settings: [String]) throws -> ProgramProcess {
        try ProgramProcess(
            ["serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--set", "log.level=debug"] + settings)
    }

    @Test("are in no log line, metric or error, whatever is asked for", .timeLimit(.minutes(2)))
    func content() async throws {
        try await withFolder(["keys": "k1:\(Canary.key)\n", "admin": "\(Self.adminKey)\n"]) { _, folder in
            let settings = [
                "--store", "sqlite:\(folder)/store", "--flows", "config/flows", "--services", "config/services",
                "--set", "encryption_keys_file=\(folder)/keys", "--set", "admin.key_file=\(folder)/admin", "--set",
                "main_flow=wizard", "--set", "limits.document_bytes=2KiB",
            ]
            for _ in 0..<2 {
                let process = try Self.serve(settings)
                let ports = try await process.ports()
                let anybody = TestClient(port: ports.publicPort)
                let created = try await anybody.send(
                    "POST", Paths.sessions, json: #"{"labels":{"device":"\#(Self.word)"}}"#)
                let client = anybody.with(token: try #require(created[member: "token"]?.string))
                let id = try #require(created[member: "session"]?[member: "id"]?.string)
                try await Self.write(client)
                try await Self.administer(TestClient(port: ports.adminPort), id)
                process.send(SIGHUP)
                process.send(SIGTERM)
                #expect(try await process.result().status == 0)
            }
            for command in ["check", "stats"] {
                let run = try await ProgramProcess.run(["store", command] + settings[0..<2] + settings[6..<8])
                #expect(run.status == 0, "\(run.complaints)")
            }
            let unknown = try await ProgramProcess.run(
                ["serve"] + settings + ["--set", "encryption_keys_file=\(folder)/none"])
            #expect(unknown.status != 0)
        }
    }

    /// Documents that are taken, and what is wrong in every way.
    private static func write(_ client: TestClient) async throws {
        #expect(try await client.patch(Paths.profile, #"{"name":"\#(word)"}"#).status == 200)
        #expect(try await client.get(Paths.profile)[member: "name"]?.string == word)
        let wrong: [(json: String, status: Int)] = [
            (#"{"name":{"\#(word)":["\#(word)"]}}"#, 400), (#"{"name":"\#(word)"#, 400),
            (#"{"name":"\#(word)","name":"\#(word)"}"#, 400), (#"["\#(word)"]"#, 400), ("\(word)", 400),
            (#"{"attributes":{"a":"\#(String(repeating: word, count: 300))"}}"#, 413),
        ]
        for (json, status) in wrong {
            let refused = try await client.patch(Paths.profile, json)
            #expect(refused.status == status, "\(json.prefix(60)): \(refused.text)")
        }
        let patch = [("Content-Type", "application/json-patch+json")]
        let test = #"[{"op":"test","path":"/name","value":"other \#(word)"}]"#
        #expect(try await client.send("PATCH", Paths.profile, json: test, fields: patch).status == 409)
        #expect(
            try await client.send(
                "POST", Paths.transactions,
                json: #"{"operations":[{"op":"patch","service":"profile","value":{"name":["\#(word)"]}}]}"#
            ).status == 400)
        _ = try await client.get(Paths.main)
        let event = #"{"event":"none","data":{"email":"\#(word)","name":["\#(word)"]}}"#
        #expect(try await client.send("POST", Paths.main + "/events", json: event).status >= 400)
        for fields in [("Idempotency-Key", word), ("If-Match", "\"\(word)\""), ("Cookie", "cg=\(word)")] {
            _ = try await client.patch(Paths.profile, "{}", fields: [fields])
        }
    }

    private static func administer(_ anybody: TestClient, _ id: String) async throws {
        let admin = anybody.with(token: adminKey)
        let user = try await admin.send(
            "PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"ada","claims":{"mail":"\#(word)"}}"#)
        #expect(user.status == 200, "\(user.text)")
        for path in ["/metrics", "/v1/sessions/\(id)", "/health/ready", "/v1/sessions/\(id)/services/none"] {
            _ = try await admin.get(path)
        }
        let refused = try await anybody.with(token: word + "wrong").get("/v1/sessions/\(id)")
        #expect(refused.status == 401, "\(refused.text)")
    }

    @Test("the password of Redis is in no line, right or wrong", .timeLimit(.minutes(1)))
    func password() async throws {
        try await withFolder(["word": "\(Self.word)\n", "other": "\(Self.word)2\n"]) { _, folder in
            let redis = try RedisTestServer(["--requirepass", Self.word])
            let settings = ["--store", "redis://127.0.0.1:\(redis.port)"]
            let process = try Self.serve(settings + ["--set", "redis_password_file=\(folder)/word"])
            let ports = try await process.ports()
            #expect(try await TestClient(port: ports.publicPort).send("POST", Paths.sessions).status == 201)
            _ = try await TestClient(port: ports.adminPort).get("/metrics")
            process.send(SIGTERM)
            #expect(try await process.result().status == 0)
            for settings in [
                settings + ["--set", "redis_password_file=\(folder)/other"],
                ["--store", "redis://:\(Self.word)@127.0.0.1:\(redis.port)"],
            ] {
                #expect(
                    try await ProgramProcess.run(["serve", "--port", "0", "--admin-port", "0"] + settings).status != 0)
            }
        }
    }
}
