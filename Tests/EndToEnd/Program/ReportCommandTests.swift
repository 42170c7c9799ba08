import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Testing

/// `concierge report`.
@Suite("A report for support")
struct ReportCommandTests {
    private static let word = Canary.word
    private static let adminKey = "\(Canary.word)-an-admin-key-that-is-long"

    /// Runs a command of the system.
    private static func run(_ command: String) async throws -> String {
        let result = try await ProgramProcess(
            command: ["/bin/bash", "-c", command], environment: ["PATH": "/usr/bin:/bin"]
        ).result()
        #expect(result.status == 0, "\(result.complaints)")
        return result.output
    }

    @Test("has versions, limits, configuration, checks and numbers, and no secret and nothing of a session")
    func secrets() async throws {
        let redis = try RedisTestServer(["--requirepass", Self.word])
        let files = [
            "concierge.json": """
            {"store": "redis://127.0.0.1:\(redis.port)", "redis_password_file": "password", "admin": {"key_file": "admin"},
             "main_flow": "t", "encryption_keys_file": "keys", "log": {"users": "plain"},
             "tasks": {"charge": {"url": "http://127.0.0.1:1/hook?name=\\"a\\"&key=\(Self.word)", "secret_file": "webhook"}}}
            """,
            "password": "\(Self.word)\n", "admin": "\(Self.adminKey)\n", "keys": "k1:\(Canary.key)\n",
            "webhook": "whsec_\(Canary.key)\n",
            "flows/t.json":
                #"{"id":"t","version":3,"description":"\#(Self.word)","initial":"a","states":{"a":{"data":["note"],"on":{"pay":{"target":"p"}}},"p":{"type":"task","task":"charge","retry":{"attempts":3,"after":"1h"},"on":{"done":{"target":"z"}}},"z":{"type":"final"}}}"#,
            "services/note.json": #"{"name":"note","default":{"text":"\#(Self.word)"},"schema":{"type":"object"}}"#,
        ]
        try await withFolder(files) { _, folder in
            let config = ["--config", "\(folder)/concierge.json"]
            let process = try ProgramProcess(
                ["serve"] + config + [
                    "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--set", "log.level=debug",
                ])
            let ports = try await process.ports()
            let anybody = TestClient(port: ports.publicPort)
            let created = try await anybody.send(
                "POST", Paths.sessions, json: #"{"labels":{"device":"\#(Self.word)"}}"#)
            let id = try #require(created[member: "session"]?[string: "id"])
            let admin = TestClient(port: ports.adminPort).with(token: Self.adminKey)
            let signedIn = try await admin.send(
                "PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"person-1815"}"#)
            let token = try #require(signedIn[member: "token"]?.string)
            let client = anybody.with(token: token)
            #expect(
                try await client.send("PUT", Paths.service("note"), json: #"{"text":"\#(Self.word)"}"#).status == 200)
            #expect(try await client.event("pay", on: Paths.main).status == 200)
            // Log lines as they are with log.users plain, and one that is no JSON.
            let log = "\(folder)/log"
            let line =
                #"{"time":"2026-11-29T12:00:00.000Z","level":"info","event":"request","method":"GET","route":"/v1/sessions/{session}","status":200,"client":"192.0.2.7","session_id":"\#(id)","user":"person-1815","failure":"\#(Self.word)","flow":"t"}"#
            _ = try await Self.run(
                "for n in $(seq 3000); do echo '\(line)'; done > '\(log)'; echo '\(Self.word)' >> '\(log)'")

            let report = "\(folder)/report.tar.gz"
            let environment = ["CONCIERGE_URL": "http://127.0.0.1:\(ports.adminPort)"]
            let arguments = ["report", report, "--log", log] + config
            let made = try await ProgramProcess.run(arguments, environment: environment)
            #expect(made.status == 0 && made.complaints.isEmpty, "\(made)")
            #expect(made.output.hasSuffix("\(report): look into it before you send it\n"))
            let again = try await ProgramProcess.run(arguments, environment: environment)
            #expect(again.status == 1 && again.complaints == "concierge: \(report): File exists\n", "\(again)")

            let names = try await Self.run("tar tzf '\(report)'").split(separator: "\n")
            #expect(names.count == made.output.split(separator: "\n").count - 1)
            let content = try await Self.run(
                "mkdir '\(folder)/out' && tar xzf '\(report)' -C '\(folder)/out' --strip-components=1 && gzip -dc '\(report)'"
            )
            for secret in [Self.word, Self.adminKey, token, id, "whsec_", Canary.key, "person-1815", "192.0.2.7"] {
                #expect(!content.contains(secret), "the report has \(secret)")
            }
            func file(_ name: String) async throws -> String { try await Self.run("cat '\(folder)/out/\(name)'") }
            #expect(try JSONDocument(parsing: try await file("version.json"))[string: "name"] == "concierge")
            #expect(try JSONDocument(parsing: try await file("system.json"))[member: "usable_cores"]?.int != nil)
            #expect(try await file("limits.txt").contains("Max open files"))
            #expect(try await file("check.txt").contains("1 service file and 1 flow file: 0 errors"))
            let configuration = try JSONDocument(parsing: try await file("configuration.json"))
            #expect(configuration[member: "configuration"]?[member: "admin"]?[string: "key"] == "********")
            #expect(
                configuration[member: "configuration"]?[member: "tasks"]?[member: "charge"]?[string: "url"]
                    == "http://127.0.0.1:1/hook?********")
            let digest = try await Self.run("sha256sum < '\(folder)/flows/t.json'").prefix(64)
            #expect(try await file("flows.txt") == "t 3 \(digest) t.json\n")
            #expect(try await file("services.txt").hasPrefix("note "))
            #expect(try JSONDocument(parsing: try await file("server/ready.json"))[string: "status"] == "ready")
            #expect(try JSONDocument(parsing: try await file("server/stats.json"))[member: "sessions"] != nil)
            #expect(try await file("server/metrics.txt").contains(#/concierge_journeys\{[^}]*flow="t"[^}]*\} 1/#))
            #expect(try JSONDocument(parsing: try await file("server/journeys.json"))[member: "items"]?.count == 2)
            let lines = try await file("log.ndjson").split(separator: "\n")
            #expect(lines.count == 1_000)
            #expect(
                try JSONDocument(parsing: String(lines[0])).names
                    == ["time", "level", "event", "method", "route", "status", "flow"])
            process.send(SIGTERM)
            _ = try await process.result()
        }
    }

    @Test("is made without a server and with a configuration that has mistakes, and says so")
    func broken() async throws {
        let files = ["concierge.json": #"{"port": "many", "flows": "flows"}"#, "flows/t.json": "{"]
        try await withFolder(files) { _, folder in
            let report = "\(folder)/report.tar.gz"
            let made = try await ProgramProcess.run(
                ["report", report, "--config", "\(folder)/concierge.json"],
                environment: ["CONCIERGE_URL": "http://127.0.0.1:1"])
            #expect(made.status == 0)
            #expect(made.complaints == "concierge: no server responds at http://127.0.0.1:1: Connection refused\n")
            let content = try await Self.run("gzip -dc '\(report)'")
            #expect(content.contains("bad_value") && content.contains("no server responds at"))
            let nowhere = try await ProgramProcess.run(["report", "\(folder)/none/report.tar.gz"])
            #expect(
                nowhere.status == 1 && nowhere.complaints.contains("none/report.tar.gz: No such file"), "\(nowhere)")
        }
    }
}
