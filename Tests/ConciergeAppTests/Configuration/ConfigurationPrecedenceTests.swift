import Configuration
import Support
import Testing

@Suite("Where configuration comes from")
struct ConfigurationPrecedenceTests {
    @Test("Without any source every key has its default")
    func defaults() async throws {
        let loaded = try await load()
        #expect(loaded.configuration == Configuration())
        #expect(loaded.problems == [])
        #expect(loaded.file == nil)
        #expect(loaded.origins.isEmpty)
    }

    @Test("A flag wins over the environment, which wins over the file, which wins over the default")
    func order() async throws {
        let file = #"{"port": 1, "host": "127.0.0.1", "workers": 3, "admin": {"port": 11}}"#
        let loaded = try await load(
            ["config/concierge.json": file],
            environment: ["CONCIERGE_PORT": "2", "CONCIERGE_WORKERS": "4", "PATH": "/bin", "CONCIERGEX": "1"],
            set: ["port": "5"])
        #expect(loaded.problems == [])
        #expect(loaded.configuration.port == 5)
        #expect(loaded.configuration.workers == 4)
        #expect(loaded.configuration.host == "127.0.0.1")
        #expect(loaded.configuration.admin.port == 11)
        #expect(loaded.configuration.maxSessions == 1_000_000)
        #expect(loaded.origins["port"] == .flag("--set"))
        #expect(loaded.origins["workers"] == .environment("CONCIERGE_WORKERS"))
        #expect(loaded.origins["host"]?.description == "config/concierge.json:1:13")
        #expect(loaded.origins["max_sessions"] == nil)
    }

    @Test("touch_interval follows the idle timeout until it is set")
    func derived() async throws {
        #expect(try await load().configuration.touchInterval == .seconds(90))
        let short = try await load(set: ["session_idle_timeout": "10s", "rotation_grace": "5s"])
        #expect(short.problems == [] && short.configuration.touchInterval == .milliseconds(500))
        #expect(try key("touch_interval").show(short.configuration) == #""500ms""#)
        let long = try await load(set: ["session_idle_timeout": "365d", "session_lifetime": "365d"])
        #expect(long.configuration.touchInterval == .seconds(3_600))
        let both = try await load(set: ["session_idle_timeout": "10s", "touch_interval": "1s"])
        #expect(both.configuration.touchInterval == .seconds(1))
    }

    @Test("A session may last as long as others at most until a maximum is set")
    func derivedMaxima() async throws {
        let none = try await load(set: ["session_lifetime": "20h"]).configuration
        #expect(none.sessionLifetimeMax == .seconds(20 * 3_600) && none.sessionIdleTimeoutMax == .seconds(1_800))
        let set = try await load(set: ["session_lifetime_max": "90d", "session_idle_timeout_max": "14d"])
        #expect(set.problems == [] && set.configuration.sessionLifetimeMax == .seconds(90 * 86_400))
        #expect(set.configuration.sessionIdleTimeoutMax == .seconds(14 * 86_400))
    }

    @Test("The last of several flags for one key wins")
    func lastFlag() {
        let flags = [
            FlagValue(flag: "--port", path: "port", text: "1"), FlagValue(flag: "--set", path: "port", text: "2"),
        ]
        let loaded = ConfigurationLoader(environment: [:], files: FileReader(directory: "/nonexistent"))
            .load(flags: flags)
        #expect(loaded.configuration.port == 2)
    }

    @Test("--config wins over CONCIERGE_CONFIG, which wins over config/concierge.json")
    func whichFile() async throws {
        let files = [
            "config/concierge.json": #"{"port": 1}"#, "b.json": #"{"port": 2}"#, "c.json": #"{"port": 3}"#,
        ]
        #expect(try await load(files).configuration.port == 1)
        let variable = ["CONCIERGE_CONFIG": "b.json"]
        #expect(try await load(files, environment: variable).configuration.port == 2)
        #expect(try await load(files, file: "c.json", environment: variable).configuration.port == 3)
    }

    @Test("An empty variable counts as one that is not set")
    func emptyVariable() async throws {
        let loaded = try await load(environment: ["CONCIERGE_PORT": "", "CONCIERGE_CONFIG": ""])
        #expect(loaded.problems == [])
        #expect(loaded.origins.isEmpty)
    }

    @Test("Comments of both kinds may stand anywhere in the file, and lines are counted through them")
    func comments() async throws {
        let file = """
            // first { "
            { /* in
              between */ "port" /* : */ : // 1
                7, "admin": { /* "port": 1, */ "prot": 1 } // }
            }
            """
        let loaded = try await load(["c.json": file], file: "c.json")
        #expect(loaded.configuration.port == 7)
        #expect(loaded.origins["port"]?.description == "c.json:3:14")
        #expect(loaded.problems.map(\.origin.description) == ["c.json:4:36"])
    }

    @Test("A path in a file is relative to that file, elsewhere to the working directory")
    func paths() async throws {
        let service = #"{"name": "a", "schema": {"type": "object"}, "default": {}}"#
        let files = ["etc/c.json": #"{"services": "mine"}"#, "etc/mine/a.json": service, "yours/a.json": service]
        #expect(try await load(files, file: "etc/c.json").services.map(\.path) == ["etc/mine/a.json"])
        let loaded = try await load(files, file: "etc/c.json", environment: ["CONCIERGE_SERVICES": "yours"])
        #expect(loaded.services.map(\.path) == ["yours/a.json"])
    }

    @Test("The folder `services` beside the file is used if it is there and nothing else is said")
    func servicesBeside() async throws {
        let service = #"{"name": "a", "schema": {"type": "object"}, "default": {}}"#
        let files = ["c.json": "{}", "none.json": #"{"services": null}"#, "services/a.json": service]
        let loaded = try await load(files, file: "c.json")
        #expect(loaded.configuration.services == "services")
        #expect(loaded.services.map(\.name) == ["a"])
        #expect(try await load(files, file: "none.json").services.isEmpty)
        #expect(try await load(["c.json": "{}"], file: "c.json").configuration.services == nil)
    }

    @Test("The admin key comes from the later of key and key file")
    func adminKey() async throws {
        let files = ["c.json": #"{"admin": {"key_file": "key"}}"#, "key": "0123456789abcdef\n"]
        let fromFile = try await load(files, file: "c.json", set: ["admin.host": "0.0.0.0"])
        #expect(fromFile.problems == [])
        #expect(fromFile.configuration.admin.key?.revealed == "0123456789abcdef")
        let environment = ["CONCIERGE_ADMIN_KEY": "fedcba9876543210"]
        let fromEnvironment = try await load(files, file: "c.json", environment: environment)
        #expect(fromEnvironment.configuration.admin.key?.revealed == "fedcba9876543210")
    }

    @Test("the password for Redis comes from its file")
    func redisPassword() async throws {
        let redis = #"{"store": "redis://ada@host", "redis_password_file": "password"}"#
        let loaded = try await load(["c.json": redis, "password": "open sesame\n"], file: "c.json")
        #expect(loaded.problems == [])
        guard case .redis(let address) = loaded.configuration.store else { throw UnexpectedStore() }
        #expect(address.user == "ada" && address.password == "open sesame" && address.sentinelPassword == nil)
        let sentinels = #"{"store": "redis+sentinel://a,b/main", "redis_sentinel_password_file": "password"}"#
        let other = try await load(["c.json": sentinels, "password": "open sesame\n"], file: "c.json")
        #expect(other.problems == [])
        guard case .redis(let address) = other.configuration.store else { throw UnexpectedStore() }
        #expect(address.password == nil && address.sentinelPassword == "open sesame")
    }

    private struct UnexpectedStore: Error {}
}

/// The configuration that the files, the environment and the flags make together.
func load(
    _ files: [String: String] = [:], file: String? = nil, environment: [String: String] = [:],
    set: [String: String] = [:]
) async throws -> LoadedConfiguration {
    try await withFolder(files) { reader, _ in
        let flags = set.sorted { $0.key < $1.key }.map { FlagValue(flag: "--set", path: $0.key, text: $0.value) }
        return ConfigurationLoader(environment: environment, files: reader).load(file: file, flags: flags)
    }
}
