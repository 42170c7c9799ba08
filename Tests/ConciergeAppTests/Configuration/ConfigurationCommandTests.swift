import Commands
import Configuration
import JSONDocument
import Operations
import Support
import Synchronization
import Testing

@Suite("Commands of the program")
struct ConfigurationCommandTests {
    @Test(
        "Wrong usage is one sentence on standard error and status 2",
        arguments: [
            (
                ["srve"],
                #"concierge: there is no command "srve"; allowed is one of init, serve, dev, check, config, schema, types, simulate, test, paths, store, session, service, journey, task, user, import, export, health, report, version, help; did you mean serve?"#
            ),
            (["serve", "--prot", "1"], #"concierge: serve has no flag "--prot"; did you mean --port?"#),
            (
                ["serve", "--max-sessions=1"],
                #"concierge: serve has no flag "--max-sessions"; did you mean --set max_sessions=…?"#
            ),
            (["serve", "--against", "x"], #"concierge: serve has no flag "--against""#),
            (["simulate", "--script", "x"], "concierge: simulate needs the id of a flow"),
            (["simulate", "wizard"], "concierge: simulate needs --script FILE"),
            (["simulate", "a", "b"], #"concierge: simulate takes no argument "b""#),
            (["paths", "--curl=1", "a"], "concierge: --curl takes no value"),
            (["serve", "8080"], #"concierge: serve takes no argument "8080""#),
            (["serve", "--port"], "concierge: --port needs a value"),
            (["serve", "--port", "--host"], "concierge: --port needs a value"),
            (["serve", "--config="], "concierge: --config needs the path of a file"),
            (["serve", "--set", "port"], "concierge: --set needs key=value, such as --set limits.body_bytes=64KiB"),
            (["serve", "--sources"], #"concierge: serve has no flag "--sources""#),
            (["config", "--sources=1"], "concierge: --sources takes no value"),
            (["version", "--port", "1"], #"concierge: version has no flag "--port""#),
            (
                ["store"],
                "concierge: store needs an action: one of check, stats, backup, restore, repair, vacuum, rekey"
            ),
            (
                ["store", "chekc"],
                #"concierge: store cannot "chekc"; allowed is one of check, stats, backup, restore, repair, vacuum, rekey; did you mean check?"#
            ),
            (["store", "backup"], "concierge: store backup needs the path of the file to be written"),
            (["store", "repair"], "concierge: store repair needs the path of the file to be written"),
            (["store", "backup", "a", "b"], #"concierge: store takes no argument "b" here"#),
            (["store", "check", "--force"], #"concierge: store check has no flag "--force""#),
            (["store", "vacuum", "--json"], #"concierge: store vacuum has no flag "--json""#),
            (
                ["store", "rekey", "--store", "sqlite:/none/such.db"],
                "concierge: there are no keys: name their file in encryption_keys_file"
            ),
            (
                ["store", "check", "--store", "memory"],
                "concierge: the store is memory, which has no file: name one with --store sqlite:FILE"
            ),
            (["version", "now"], #"concierge: version takes no argument "now""#),
            (
                ["help", "sevre"],
                #"concierge: there is no command "sevre"; allowed is one of init, serve, dev, check, config, schema, types, simulate, test, paths, store, session, service, journey, task, user, import, export, health, report, version, help; did you mean serve?"#
            ),
        ])
    func wrongUsage(arguments: [String], sentence: String) async throws {
        let run = try await run(arguments)
        #expect(run == Run(status: 2, result: "", complaint: sentence + "\n"))
    }

    @Test("No command is wrong usage too, with the list of commands")
    func noCommand() async throws {
        let run = try await run([])
        #expect(run.status == 2)
        #expect(run.result == "")
        #expect(run.complaint.hasPrefix("concierge: no command is given; "))
        #expect(run.complaint.contains("usage: concierge COMMAND"))
    }

    @Test(
        "Help is status 0 on standard output",
        arguments: [
            (["--help"], "usage: concierge COMMAND"), (["help"], "usage: concierge COMMAND"),
            (["-h"], "usage: concierge COMMAND"), (["help", "serve"], "usage: concierge serve"),
            (["help", "store"], "usage: concierge store check|stats|backup FILE|repair FILE|vacuum|rekey"),
            (["serve", "--help"], "usage: concierge serve"), (["check", "-h"], "usage: concierge check"),
            (["config", "--port", "1", "--help"], "usage: concierge config"),
            (["version", "--help"], "usage: concierge version"), (["help", "help"], "usage: concierge help"),
        ])
    func help(arguments: [String], usage: String) async throws {
        let run = try await run(arguments)
        #expect(run.status == 0)
        #expect(run.complaint == "")
        #expect(run.result.contains(usage))
        #expect(run.result.hasSuffix("\n"))
    }

    @Test("Help of serve names every flag")
    func helpNamesFlags() async throws {
        let help = try await run(["help", "serve"]).result
        for flag in ConfigurationKey.all.compactMap(\.flagName) + ["--config", "--set"] {
            #expect(help.contains("  \(flag) "), "\(flag)")
        }
    }

    @Test("Version prints name and version", arguments: [["version"], ["--version"]])
    func version(arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run == Run(status: 0, result: "concierge \(BuildInformation.version)\n", complaint: ""))
    }

    @Test("Flags are taken as --flag value and as --flag=value, and serve gets the configuration they make")
    func serve() async throws {
        let arguments = [
            "serve", "--host=127.0.0.1", "--port", "0", "--admin-host", "::1", "--admin-port=0", "--workers", "2",
            "--store=memory", "--set", "cors.allowed_origins=http://a.example", "--set=log.level=debug",
        ]
        let run = try await run(arguments)
        #expect(run.complaint == "")
        #expect(run.status == 42)
        let configuration = try #require(run.served)
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 0)
        #expect(configuration.admin.host == "::1")
        #expect(configuration.admin.port == 0)
        #expect(configuration.workers == 2)
        #expect(configuration.cors.allowedOrigins == ["http://a.example"])
        #expect(configuration.log.level == .debug)
    }

    @Test(
        "With a bad configuration serve and config print every error on standard error, status 2",
        arguments: [
            "serve", "config",
        ])
    func badConfiguration(command: String) async throws {
        let run = try await run(
            [command, "--port", "x", "--set", "prot=1"], environment: ["CONCIERGE_WORKERS": "0"],
            files: ["services/a.json": "{"], extra: ["--services", "services"])
        #expect(run.status == 2)
        #expect(run.result == "")
        #expect(run.served == nil)
        #expect(run.complaint.split(separator: "\n").count == 4)
    }

    @Test("A warning keeps neither serve nor config from working, and makes check say so with status 0")
    func warning() async throws {
        let files = ["services/a.json": #"{"name": "a", "schema": {}, "default": 1}"#]
        let flags = ["--services=services"]
        #expect(try await run(["serve"], files: files, extra: flags).status == 42)
        #expect(try await run(["config"], files: files, extra: flags).complaint == "")
        let check = try await run(["check"], files: files, extra: flags)
        #expect(check.status == 0)
        #expect(check.result == "checked no configuration file, 1 service file and 0 flow files: 0 errors, 1 warning\n")
        #expect(
            check.complaint
                == "services/a.json:1:15: warning: /schema empty_schema: the schema allows any document at all\n")
    }

    @Test("Check prints a line for each problem, a closing line with counts, and is status 2 with an error")
    func check() async throws {
        let files = ["c.json": "{\n  \"prot\": 1,\n  \"workers\": 0\n}"]
        let run = try await run(["check", "--config", "c.json"], files: files)
        #expect(run.status == 2)
        #expect(run.result == "checked c.json, 0 service files and 0 flow files: 2 errors, 0 warnings\n")
        #expect(
            run.complaint == """
                c.json:2:3: error: /prot unknown_key: there is no key "prot"; did you mean port?
                c.json:3:3: error: /workers bad_value: workers is 0; allowed is an integer from 1 to 256

                """)
    }

    @Test("Config prints JSON that can be used as a configuration file and means the same")
    func config() async throws {
        let first = try await run(["config", "--port=0", "--set=cors.allowed_origins=http://a.example"])
        #expect(first.status == 0)
        let second = try await run(["config", "--config", "c.json"], files: ["c.json": first.result])
        #expect(second.complaint == "")
        #expect(second.result == first.result)
        let document = try JSONDocument(parsing: first.result)
        #expect(document[member: "port"]?.int == 0)
        #expect(document[member: "admin"]?[member: "port"]?.int == 8081)
        #expect(document[member: "session_lifetime"]?.string == "12h")
    }

    @Test("Config with --sources says where each value comes from, and masks secrets")
    func sources() async throws {
        let run = try await run(
            ["config", "--sources", "--port=0", "--config=c.json"],
            environment: ["CONCIERGE_ADMIN_KEY": "0123456789abcdef"], files: ["c.json": #"{"workers": 1}"#])
        let document = try JSONDocument(parsing: run.result)
        let sources = try #require(document[member: "sources"])
        #expect(sources[member: "port"]?.string == "flag --port")
        #expect(sources[member: "workers"]?.string == "c.json:1:2")
        #expect(sources[member: "admin.key"]?.string == "environment CONCIERGE_ADMIN_KEY")
        #expect(sources[member: "host"]?.string == "default")
        #expect(document[member: "configuration"]?[member: "admin"]?[member: "key"]?.string == "********")
        #expect(!run.result.contains("0123456789abcdef"))
        #expect(sources.count == ConfigurationKey.all.count)
    }

    private struct Run: Equatable {
        var status: Int32
        var result: String
        var complaint: String
        var served: Configuration?
    }

    private func run(
        _ arguments: [String], environment: [String: String] = [:], files: [String: String] = [:], extra: [String] = []
    ) async throws -> Run {
        let collector = Collector()
        let output = ProgramOutput(
            result: { text in collector.text.withLock { $0.result += text } },
            complaint: { text in collector.text.withLock { $0.complaint += text } })
        let status = try await withFolder(files) { reader, _ in
            await Program.run(
                arguments: arguments + extra, environment: environment, files: reader, output: output
            ) { loaded in
                collector.text.withLock { $0.served = loaded.configuration }
                return 42
            }
        }
        return collector.text.withLock {
            Run(status: status, result: $0.result, complaint: $0.complaint, served: $0.served)
        }
    }

    private final class Collector: Sendable {
        let text = Mutex((result: "", complaint: "", served: Configuration?.none))
    }
}
