import Configuration
import Testing

@Suite("Configuration of tasks that are sent")
struct SentTaskConfigurationTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"
    private static func file(_ task: String) -> String { #"{"tasks": {"check-password": \#(task)}}"# }
    private static let whole = #"{"url": "https://a.example/x", "secret_file": "secret", "timeout": "2s"}"#

    @Test("a file has an object for each task, with a secret in a file beside it")
    func file() async throws {
        let loaded = try await load(["c/c.json": Self.file(Self.whole), "c/secret": Self.secret], file: "c/c.json")
        #expect(loaded.problems == [])
        let task = loaded.configuration.tasks["check-password"]
        #expect(task.url == "https://a.example/x" && task.timeout == .seconds(2) && task.concurrency == 16)
        #expect(task.secret != nil && loaded.configuration.tasks.names == ["check-password"])
        let shown = ConfigurationReport.json(of: loaded)
        #expect(shown.contains(#""check-password": {"url": "https://a.example/x", "secret_file": "c/secret", "#))
        #expect(!shown.contains("MfKQ9"))
        #expect(
            ConfigurationReport.jsonWithSources(of: loaded).contains(#""tasks.check-password.timeout": "c/c.json:1"#))
    }

    @Test("flags and variables follow from the path; a variable finds the task of the file that is written like it")
    func others() async throws {
        let flags = ["tasks.check-password.url": "http://localhost:9/x", "tasks.check-password.secret_file": "secret"]
        let byFlag = try await load(["secret": Self.secret], set: flags)
        #expect(byFlag.problems == [] && byFlag.configuration.tasks["check-password"].url == "http://localhost:9/x")
        let environment = [
            "CONCIERGE_TASKS_CHECK_PASSWORD_URL": "http://localhost:9/y",
            "CONCIERGE_TASKS_CHECK_PASSWORD_SECRET_FILE": "secret", "CONCIERGE_TASKS_CHECK_PASSWORD_CONCURRENCY": "3",
        ]
        let byVariable = try await load(["secret": Self.secret], environment: environment)
        #expect(byVariable.problems == [] && byVariable.configuration.tasks["check-password"].concurrency == 3)
        let both = try await load(
            ["c.json": #"{"tasks": {"Check_Password": \#(Self.whole)}}"#, "secret": Self.secret], file: "c.json",
            environment: ["CONCIERGE_TASKS_CHECK_PASSWORD_TIMEOUT": "9s"])
        #expect(both.problems == [] && both.configuration.tasks["Check_Password"].timeout == .seconds(9))
    }

    @Test("a task that no flow has, and an address without encryption, are warnings")
    func warnings() async throws {
        let flow =
            #"{"id":"pay","version":1,"initial":"p","states":{"p":{"type":"task","task":"check-password","on":{"done":{"target":"q"}}},"q":{"type":"final"}}}"#
        func warnings(_ name: String, _ url: String) async throws -> [String] {
            let task = #"{"tasks": {"\#(name)": {"url": "\#(url)", "secret_file": "secret"}}}"#
            let files = ["c/c.json": task, "c/secret": Self.secret, "c/flows/pay.json": flow]
            return try await load(files, file: "c/c.json").problems.map(\.description)
        }
        #expect(try await warnings("check-password", "https://a.example/x") == [])
        #expect(try await warnings("check-password", "http://127.0.0.1:9/x") == [])
        let unknown = try await warnings("chek-password", "https://a.example/x")
        #expect(unknown.count == 1 && unknown[0].contains("did you mean check-password?"), "\(unknown)")
        let readable = try await warnings("check-password", "http://a.example/x")
        #expect(readable.count == 1 && readable[0].contains("unencrypted"), "\(readable)")
    }

    @Test(
        "what is missing or wrong is one problem, where it is",
        arguments: [
            (#"{"secret_file": "secret"}"#, "/tasks/check-password/url", "missing_key"),
            (#"{"url": "https://a.example"}"#, "/tasks/check-password/secret_file", "missing_key"),
            (
                #"{"url": "https://a.example", "secret_file": "none"}"#, "/tasks/check-password/secret_file",
                "missing_file"
            ),
            (
                #"{"url": "https://a.example", "secret_file": "c.json"}"#, "/tasks/check-password/secret_file",
                "bad_value"
            ),
            (#"{"url": "ftp://a.example", "secret_file": "secret"}"#, "/tasks/check-password/url", "bad_value"),
            (#"{"url": "https://u:p@a.example", "secret_file": "secret"}"#, "/tasks/check-password/url", "bad_value"),
            (#"{"url": "https://", "secret_file": "secret"}"#, "/tasks/check-password/url", "bad_value"),
            (
                #"{"url": "https://a.example", "secret_file": "secret", "concurrency": 0}"#,
                "/tasks/check-password/concurrency", "bad_value"
            ),
            (
                #"{"url": "https://a.example", "secret_file": "secret", "retries": 0}"#,
                "/tasks/check-password/retries", "unknown_key"
            ),
            ("7", "/tasks/check-password", "wrong_type"),
        ])
    func wrong(task: String, pointer: String, code: String) async throws {
        let loaded = try await load(["c.json": Self.file(task), "secret": Self.secret], file: "c.json")
        #expect(loaded.problems.map(\.pointer) == [pointer], "\(loaded.problems)")
        #expect(loaded.problems.map(\.code) == [code])
        #expect(loaded.problems.allSatisfy { !$0.message.contains("MfKQ9") })
    }
}

@Suite("Signatures of webhooks")
struct WebhookSecretTests {
    @Test("are those of the example that implementations of Standard Webhooks share")
    func example() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect("\(secret)" == "********" && String(reflecting: secret) == "********")
    }

    @Test(
        "need whsec_ and the base64 of 24 to 64 bytes",
        arguments: [
            "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa==",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2Lx====", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS_",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2L=",
        ])
    func refused(text: String) {
        #expect(WebhookSecret(text) == nil)
    }
}
