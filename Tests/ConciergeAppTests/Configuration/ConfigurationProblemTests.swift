import Configuration
import Testing

@Suite("Problems of the configuration")
struct ConfigurationProblemTests {
    @Test("All problems of all sources come at once, each with where, what, what is allowed and a guess")
    func allAtOnce() async throws {
        let file = """
            {
                "prot": 80,
                "workers": "two",
                "admin": { "hots": "::1", "port": 70000 },
                "limts": {},
                "log": []
            }
            """
        let service = #"{"name": "Basket", "schema": {}, "default": 1}"#
        let loaded = try await load(
            ["config/concierge.json": file, "config/services/b.json": service],
            environment: ["CONCIERGE_ADMIN_PROT": "1", "CONCIERGE_DRAIN_DELAY": "soon"],
            set: ["log.levle": "info", "log.level": "loud"])
        #expect(
            loaded.problems.map(\.description)
                == [
                    #"config/concierge.json:4:16: error: /admin/hots unknown_key: there is no key "admin.hots"; did you mean admin.host?"#,
                    "config/concierge.json:5:5: error: /limts unknown_key: there is no key \"limts\"; did you mean limits?",
                    "config/concierge.json:6:5: error: /log wrong_type: log is an array; "
                        + "expected an object with the keys of this group",
                    "config/concierge.json:2:5: error: /prot unknown_key: there is no key \"prot\"; did you mean port?",
                    "config/concierge.json:4:31: error: /admin/port bad_value: admin.port is 70000; "
                        + "allowed is an integer from 0 to 65535",
                    "config/concierge.json:3:5: error: /workers bad_value: workers is \"two\"; "
                        + "allowed is an integer from 1 to 256",
                    "environment CONCIERGE_ADMIN_PROT: warning: unknown_key: there is no key for this variable, so it has no "
                        + "effect; did you mean CONCIERGE_ADMIN_PORT?",
                    "environment CONCIERGE_DRAIN_DELAY: error: /drain_delay bad_value: drain_delay is \"soon\"; "
                        + "allowed is a duration from \"0s\" to \"1h\", "
                        + "as in \"250ms\", \"90s\", \"30m\", \"12h\", \"7d\" or \"PT30M\"",
                    "flag --set: error: /log/levle unknown_key: there is no key \"log.levle\"; did you mean log.level?",
                    "flag --set: error: /log/level bad_value: log.level is \"loud\"; "
                        + "allowed is one of debug, info, warning, error",
                    "config/services/b.json:1:2: error: /name bad_name: \"Basket\" is not a name; "
                        + "allowed are 1 to 64 lower-case letters, digits and hyphens",
                    "config/services/b.json:1:20: warning: /schema empty_schema: the schema allows any document at all",
                ].sortedLike(loaded.problems.map(\.description)))
    }

    @Test(
        "An unknown name comes with the nearest right one",
        arguments: [
            ("prot", "port"), ("Port", "port"), ("drainTimeout", "drain_timeout"), ("admin-port", "admin.port"),
            ("adminport", "admin.port"), ("body_bytes", "limits.body_bytes"), ("limits.body_byte", "limits.body_bytes"),
            ("server.max_sessions", "max_sessions"), ("session_ttl_lifetime", "session_lifetime"),
            ("cookies.secure", "cookie.secure"), ("adminn", "admin"), ("rotation", "rotation_grace"),
        ])
    func nearest(written: String, guess: String) async throws {
        let problems = try await load(set: [written: "1"]).problems
        #expect(problems.map(\.code) == ["unknown_key"])
        #expect(problems.map(\.message) == ["there is no key \"\(written)\"; did you mean \(guess)?"])
    }

    @Test("Variables of others with the program's prefix are warnings, and the client's own is none")
    func foreignVariables() async throws {
        let loaded = try await load(environment: [
            "CONCIERGE_PORT": "tcp://10.0.0.1:8080", "CONCIERGE_SERVICE_HOST": "10.0.0.1",
            "CONCIERGE_PORT_8080_TCP": "tcp://10.0.0.1:8080", "CONCIERGE_URL": "http://localhost:8080",
        ])
        #expect(loaded.problems.allSatisfy { $0.severity == .warning })
        #expect(loaded.problems.map(\.code) == ["foreign_variable", "unknown_key", "unknown_key"])
        #expect(loaded.configuration.port == Configuration().port)
    }

    @Test("A name that is near nothing comes without a guess", arguments: ["zzzzzzzz", "x", "database_url"])
    func noGuess(written: String) async throws {
        #expect(try await load(set: [written: "1"]).problems.map(\.message) == ["there is no key \"\(written)\""])
    }

    @Test(
        "A file that cannot be used is one problem that says why",
        arguments: [
            ("missing.json", "flag --config: error: missing_file: missing.json does not exist"),
            ("folder", "flag --config: error: wrong_file_kind: folder is a directory, not a file"),
            ("a.json/b.json", "flag --config: error: wrong_file_kind: a.json/b.json is not a directory"),
            ("/dev/null", "flag --config: error: wrong_file_kind: /dev/null is not an ordinary file"),
            ("large.json", "flag --config: error: file_too_large: large.json is larger than 1048576 bytes"),
            ("list.json", "list.json:1:1: error: wrong_type: the file holds an array; it must hold an object"),
            ("syntax.json", "syntax.json:2:1: error: invalid_json: "),
            ("twice.json", "twice.json:1:13: error: /port invalid_json: "),
            ("empty.json", "empty.json:1:1: error: invalid_json: "),
        ])
    func badFile(file: String, line: String) async throws {
        let files = [
            "a.json": "{}", "folder/x": "", "large.json": String(repeating: " ", count: 1_048_577), "list.json": "[]",
            "syntax.json": "{\"port\": 1,\n}", "twice.json": #"{"port": 1, "port": 2}"#, "empty.json": "",
        ]
        let problems = try await load(files, file: file).problems
        #expect(problems.count == 1)
        #expect(problems.map(\.description).joined().hasPrefix(line), "\(problems)")
    }

    @Test("A file named by the environment that is missing is blamed on the variable")
    func missingByVariable() async throws {
        let problems = try await load(environment: ["CONCIERGE_CONFIG": "nowhere.json"]).problems
        #expect(
            problems.map(\.description) == [
                "environment CONCIERGE_CONFIG: error: missing_file: nowhere.json does not exist"
            ])
    }

    @Test(
        "Keys that contradict each other are problems",
        arguments: [
            (["admin.host": "0.0.0.0"], "/admin/key missing_key", "error"),
            (["admin.host": "::"], "/admin/key missing_key", "error"),
            (["port": "9000", "admin.port": "9000"], "/admin/port conflict", "error"),
            (["host": "unix:a", "admin.host": "unix:a"], "/admin/host conflict", "error"),
            (["host": "systemd", "admin.host": "systemd"], "/admin/key missing_key", "error"),
            (
                ["touch_interval": "2s", "session_idle_timeout": "2s", "rotation_grace": "1s"],
                "/touch_interval conflict", "error"
            ),
            (["session_idle_timeout_max": "29m"], "/session_idle_timeout_max conflict", "error"),
            (["session_lifetime_max": "11h"], "/session_lifetime_max conflict", "error"),
            (["drain_delay": "10s"], "/drain_delay conflict", "error"),
            (["session_idle_timeout": "13h"], "/session_idle_timeout without_effect", "warning"),
            (["sync_interval": "1s"], "/sync_interval without_effect", "warning"),
            (["sync_interval": "1s", "durability": "none"], "/sync_interval without_effect", "warning"),
            (["limits.header_bytes": "17KiB"], "/limits/connection_memory without_effect", "warning"),
            (["limits.header_count": "200"], "/limits/connection_memory without_effect", "warning"),
            (["limits.connection_memory": "24KiB"], "/limits/connection_memory without_effect", "warning"),
            (["limits.header_bytes": "1KiB"], "/limits/target_bytes without_effect", "warning"),
            (["proxies.networks": "0.0.0.0/0"], "/proxies/networks doubtful", "warning"),
            (["proxies.networks": "10.0.0.0/8,::/0"], "/proxies/networks doubtful", "warning"),
            (["rotation_grace": "31m"], "/rotation_grace doubtful", "warning"),
            (["timeouts.handler": "30ms"], "/timeouts/handler doubtful", "warning"),
            (["expired_retention": "0s", "store": "sqlite:x"], "/expired_retention doubtful", "warning"),
            (["limits.total_bytes": "10"], "/limits/total_bytes doubtful", "warning"),
            (["limits.address_connections": "20000"], "/limits/address_connections doubtful", "warning"),
            (["limits.buffer_bytes": "1MiB", "workers": "16"], "/limits/buffer_bytes doubtful", "warning"),
            (["services": "nowhere"], "/services missing_file", "error"),
            (["encryption_keys_file": "nowhere"], "/encryption_keys_file missing_file", "error"),
            (["admin.key_file": "nowhere"], "/admin/key_file missing_file", "error"),
            (["admin.key_file": "nowhere", "admin.key": "0123456789abcdef"], "/admin/key_file conflict", "error"),
        ])
    func rules(set: [String: String], place: String, severity: String) async throws {
        let problems = try await load(set: set).problems
        #expect(problems.map { "\($0.pointer) \($0.code)" } == [place])
        #expect(problems.map(\.severity.rawValue) == [severity])
    }

    @Test(
        "What only looks like a contradiction is fine",
        arguments: [
            ["admin.host": "127.0.0.9"], ["admin.host": "::1"], ["admin.host": "localhost"],
            ["port": "0", "admin.port": "0"], ["host": "127.0.0.2", "port": "9000", "admin.port": "9000"],
            ["admin.host": "0.0.0.0", "admin.key": "0123456789abcdef"],
            ["admin.host": "0.0.0.0", "admin.key_hashes": "a:\(String(repeating: "0", count: 64))"],
            ["sync_interval": "1s", "durability": "interval"], ["sync_interval": "100ms"], ["durability": "interval"],
        ])
    func noContradiction(set: [String: String]) async throws {
        #expect(try await load(set: set).problems == [])
    }

    @Test("Whatever is written, a problem is one line of printable text")
    func oneLine() async throws {
        let problems = try await load(
            ["a\nb.json": #"{"x\ny\u001b": 1}"#], file: "a\nb.json", set: ["host": "a\nerror: b\u{2028}"]
        ).problems
        #expect(problems.count == 2)
        for problem in problems {
            #expect(!problem.description.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{2028}" })
        }
    }

    @Test(
        "A file of keys has a line for each: a name and the base64 of 32 bytes",
        arguments: [
            ("a:\(zeros)", true), ("# of 2026\n\na:\(zeros)\r\nb:\(zeros)\n", true), ("", false), ("\n#\n", false),
            (zeros, false), ("a:", false), (":\(zeros)", false), ("a:\(zeros)\na:\(zeros)", false),
            ("a: \(zeros)", false), ("a:\(zeros.dropLast(4))", false), ("a:AAAA\(zeros)", false),
        ])
    func encryptionKeys(file: String, isAllowed: Bool) async throws {
        let loaded = try await load(["keys": file], set: ["encryption_keys_file": "keys"])
        #expect(
            loaded.problems.map { "\($0.pointer) \($0.code)" } == (isAllowed ? [] : ["/encryption_keys_file bad_value"])
        )
        #expect((loaded.configuration.encryptionKeys != nil) == isAllowed)
    }

    @Test(
        "A file with the key of the log's hash has the base64 of 32 bytes, and is of use to a hash alone",
        arguments: [
            ("\(zeros)\n", "hash", []), ("\(zeros)", "plain", ["/log/users_key_file without_effect"]),
            ("a:\(zeros)", "hash", ["/log/users_key_file bad_value"]), ("", "hash", ["/log/users_key_file bad_value"]),
            ("AAAA", "hash", ["/log/users_key_file bad_value"]),
        ] as [(String, String, [String])])
    func usersKey(file: String, users: String, problems: [String]) async throws {
        let loaded = try await load(["key": file], set: ["log.users_key_file": "key", "log.users": users])
        #expect(loaded.problems.map { "\($0.pointer) \($0.code)" } == problems)
        #expect((loaded.configuration.log.usersKey == nil) == problems.contains { $0.hasSuffix("bad_value") })
        #expect(!"\(loaded.configuration) \(ConfigurationReport.json(of: loaded))".contains("AAAA"))
    }

    private static let zeros = String(repeating: "A", count: 43) + "="

    @Test("A secret shows up in no problem, description or dump")
    func secrets() async throws {
        let short = "tooshort-hunter"
        let good = "hunter-0123456789abcdef"
        let loads = [
            try await load(["c.json": #"{"admin": {"key": "\#(short)"}}"#], file: "c.json"),
            try await load(["c.json": #"{"admin": {"kye": "\#(good)"}}"#], file: "c.json"),
            try await load(environment: ["CONCIERGE_ADMIN_KEY": short]),
            try await load(environment: ["CONCIERGE_ADMIN_KYE": good]),
            try await load(["key": short + "\n"], set: ["admin.key_file": "key"]),
            try await load(set: ["admin.key": good]),
            try await load(["key": "hunter:\(good)\n"], set: ["encryption_keys_file": "key"]),
            try await load(["key": "x"], set: ["tasks.t.url": "https://u:\(good)@a.example"]),
        ]
        for loaded in loads {
            var text = "\(loaded) \(loaded.configuration) \(String(reflecting: loaded.configuration))"
            dump(loaded.configuration, to: &text)
            text += loaded.problems.map(\.description).joined()
            text += ConfigurationReport.json(of: loaded) + ConfigurationReport.jsonWithSources(of: loaded)
            #expect(!text.contains("hunter"))
        }
        #expect(loads.map(\.problems.count) == [1, 1, 1, 1, 1, 0, 1, 1])
        #expect(ConfigurationReport.json(of: loads[5]).contains(#""key": "********""#))
    }
}

extension [String] {
    /// Members of a file come in the order of the parser, which says nothing about correctness.
    fileprivate func sortedLike(_ other: [String]) -> [String] {
        Set(self) == Set(other) && count == other.count ? other : self
    }
}
