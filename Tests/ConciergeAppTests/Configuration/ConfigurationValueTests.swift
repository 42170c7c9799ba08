import Configuration
import JSONDocument
import Testing

/// Of the text "abc": FIPS 180-4.
private let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

@Suite("Values of configuration keys")
struct ConfigurationValueTests {
    @Test(
        "Each type takes what it should from a file",
        arguments: [
            ("port", "0", "0"), ("port", "65535", "65535"), ("port", "8080.0", "8080"),
            ("host", #""::1""#, #""::1""#), ("host", #""localhost""#, #""localhost""#),
            ("host", #""unix:/run/a b""#, #""unix:/run/a b""#), ("admin.host", #""unix:admin""#, #""unix:admin""#),
            ("limits.body_bytes", "4096", "4096"), ("limits.body_bytes", #""64KiB""#, "65536"),
            ("limits.body_bytes", #""1MiB""#, "1048576"),
            ("drain_timeout", #""250ms""#, #""250ms""#), ("drain_timeout", #""PT30M""#, #""30m""#),
            ("drain_timeout", #""0s""#, #""0s""#), ("session_lifetime", #""P7D""#, #""7d""#),
            ("cookie.secure", "false", "false"), ("log.format", #""text""#, #""text""#),
            ("log.level", #""debug""#, #""debug""#), ("store", #""memory""#, #""memory""#),
            ("store", #""sqlite:a.db""#, #""sqlite:a.db""#),
            ("store", #""redis://[::1]/2""#, #""redis://[::1]:6379/2""#),
            ("store", #""rediss://ada.example""#, #""rediss://ada.example:6379""#),
            ("store", #""redis+sentinel://a,[::1]:1/main""#, #""redis+sentinel://a:26379,[::1]:1/main""#),
            ("store", #""redis+cluster://a,b:1""#, #""redis+cluster://a:6379,b:1""#),
            ("quotas.requests", #""600/1m""#, #""600/60s""#), ("quotas.requests", #""none""#, #""none""#),
            ("quotas.requests", #""1/PT24H""#, #""1/24h""#),
            ("proxies.networks", #"["10.0.0.0/8", "2001:db8::1"]"#, #"["10.0.0.0/8", "2001:db8::1"]"#),
            ("admin.key_hashes", #"["a.b-c_1:\#(digest)"]"#, #"["a.b-c_1:\#(digest)"]"#),
            ("admin.key", "null", "null"), ("services", "null", "null"), ("cors.allowed_origins", "[]", "[]"),
            (
                "cors.allowed_origins", #"["https://a.example", "http://localhost:3000", "http://[::1]:81"]"#,
                #"["https://a.example", "http://localhost:3000", "http://[::1]:81"]"#
            ),
            (
                "cors.allowed_origins",
                #"["https://*.preview.example", "capacitor://localhost", "http://my_host:3000", "moz-extension://a-b"]"#,
                #"["https://*.preview.example", "capacitor://localhost", "http://my_host:3000", "moz-extension://a-b"]"#
            ),
            ("cors.allowed_fields", #"["X-Client"]"#, #"["X-Client"]"#), ("cookie.name", #""shop.a""#, #""shop.a""#),
            ("base_path", #""/concierge/v-1.2_~""#, #""/concierge/v-1.2_~""#), ("base_path", "null", "null"),
            ("log.users", #""plain""#, #""plain""#), ("log.audit", #""stderr""#, #""stderr""#),
            ("log.audit", #""file:audit.log""#, #""file:audit.log""#), ("log.audit", #""a/b""#, #""file:a/b""#),
            ("cookie.same_site", #""none""#, #""none""#), ("cookie.partitioned", "true", "true"),
        ])
    func goodInFile(path: String, written: String, shown: String) async throws {
        let loaded = try await load(["c.json": nested(path, written)], file: "c.json")
        #expect(loaded.problems == [])
        #expect(try key(path).show(loaded.configuration) == shown)
    }

    @Test(
        "Each type refuses what it should from a file, once, and keeps the default",
        arguments: [
            ("port", "65536"), ("port", "-1"), ("port", #""8080""#), ("port", "80.5"), ("port", "true"),
            ("port", "null"), ("port", "{}"), ("port", "[80]"), ("port", "1e300"), ("workers", "0"),
            ("host", #""""#), ("host", #""example.org""#), ("host", #""1.2.3""#), ("host", "1"),
            ("host", #""127.0.0.1\u0000""#), ("host", #""unix:""#), ("host", #""unix:a\u0000""#),
            ("host", #""Unix:a""#), ("log.users", "true"), ("log.audit", #""file:""#), ("log.audit", #""stdout""#),
            ("log.audit", #""file:a\u0000b""#), ("log.audit", "null"),
            ("host", #""unix:/\#(String(repeating: "a", count: 107))""#),
            ("limits.body_bytes", #""1MB""#), ("limits.body_bytes", #""4096""#), ("limits.body_bytes", "0"),
            ("limits.body_bytes", #""9999999999999GiB""#), ("limits.body_bytes", #""1GiB""#),
            ("drain_timeout", "10"), ("drain_timeout", #""10""#), ("drain_timeout", #""2h""#),
            ("drain_timeout", #""-1s""#), ("cookie.secure", #""true""#), ("cookie.secure", "1"),
            ("log.format", #""JSON""#), ("log.level", "null"), ("store", #""sqlite:""#), ("services", #""""#),
            ("cors.allowed_origins", #""https://a.example""#), ("cors.allowed_origins", "[1]"),
            ("cors.allowed_origins", #"["https://a.example/"]"#), ("cors.allowed_origins", #"["a.example"]"#),
            ("cors.allowed_origins", #"["https://A.example"]"#), ("cors.allowed_origins", #"["*"]"#),
            ("cors.allowed_origins", #"["https://a.example:443"]"#),
            ("cors.allowed_origins", #"["https://a.example:0"]"#),
            ("cors.allowed_origins", #"["https://*.example"]"#), ("cors.allowed_origins", #"["https://a.*.example"]"#),
            ("cors.allowed_origins", #"["https://*.0.0.1"]"#),
            ("cors.allowed_origins", #"["https://*"]"#), ("cors.allowed_origins", #"["https://a*.b.example"]"#),
            ("cors.allowed_origins", #"["null"]"#), ("cors.allowed_fields", #"["a b"]"#),
            ("cors.allowed_fields", #"["*"]"#), ("cookie.name", #""__Host-a""#), ("cookie.name", #""a=b""#),
            ("cookie.same_site", #""Lax""#), ("base_path", #""""#), ("base_path", #""/""#), ("base_path", #""a""#),
            ("base_path", #""/a/""#), ("base_path", #""//a""#), ("base_path", #""/../a""#), ("base_path", #""/a b""#),
            ("base_path", #""/a%2fb""#),
            ("quotas.requests", "600"), ("quotas.requests", #""600""#), ("quotas.requests", #""0/1m""#),
            ("quotas.requests", #""-1/1m""#), ("quotas.requests", #""600/0s""#), ("quotas.requests", #""600/25h""#),
            ("quotas.requests", #""600/1m/1m""#), ("quotas.requests", "null"),
            ("proxies.networks", #"["10.0.0.1/8"]"#), ("proxies.networks", #"["proxy.example"]"#),
            ("proxies.networks", #""10.0.0.0/8""#), ("proxies.networks", "[1]"),
            ("admin.key_hashes", #"["\#(digest)"]"#), ("admin.key_hashes", #"["a b:\#(digest)"]"#),
            ("admin.key_hashes", #"["a:\#(digest)0"]"#), ("admin.key_hashes", #"["a:\#(digest.dropLast())g"]"#),
            ("admin.key_hashes", #"["a:\#(digest)", "a:\#(digest)"]"#),
            ("redis_prefix", #""""#), ("redis_prefix", #""a{b""#), ("redis_prefix", #""ü:""#), ("redis_prefix", "1"),
            ("redis_prefix", #""\#(digest.prefix(33))""#),
            ("admin.key", #""short""#), ("admin.key", #""sixteen letters?""#), ("admin.key", "1234567890123456"),
        ])
    func badInFile(path: String, written: String) async throws {
        let loaded = try await load(["c.json": nested(path, written)], file: "c.json")
        let problem = try #require(loaded.problems.first)
        #expect(loaded.problems.count == 1)
        #expect(problem.code == "bad_value")
        #expect(problem.message.hasPrefix("\(path) "))
        #expect(problem.message.contains("; allowed is \(try key(path).allowed)"))
        #expect(try key(path).show(loaded.configuration) == key(path).show(Configuration()))
    }

    @Test(
        "Text of variables and flags is taken for the type of the key",
        arguments: [
            ("port", "0", "0"), ("limits.body_bytes", "64KiB", "65536"), ("limits.body_bytes", "70000", "70000"),
            ("quotas.sessions", "10/1s", #""10/1s""#), ("quotas.sessions", "none", #""none""#),
            ("quotas.exempt", "::1, 10.0.0.0/8", #"["::1", "10.0.0.0/8"]"#),
            ("admin.key_hashes", "a:\(digest),b:\(digest)", #"["a:\#(digest)", "b:\#(digest)"]"#),
            ("redis_prefix", "shop-2:", #""shop-2:""#), ("redis_prefix", "1", #""1""#),
            ("cookie.secure", "false", "false"), ("drain_timeout", "PT1M30.5S", #""90500ms""#),
            (
                "cors.allowed_origins", "https://a.example, http://b.example:8080",
                #"["https://a.example", "http://b.example:8080"]"#
            ),
        ])
    func goodAsText(path: String, text: String, shown: String) async throws {
        let key = try key(path)
        for loaded in [
            try await load(environment: [key.environmentName: text]), try await load(set: [path: text]),
        ] {
            #expect(loaded.problems == [])
            #expect(key.show(loaded.configuration) == shown)
        }
    }

    @Test(
        "A value that is nearly right comes with a guess",
        arguments: [
            ("drain_timeout", "30", #"did you mean "30s"?"#), ("cookie.secure", "yes", "did you mean true?"),
            ("cookie.secure", "0", "did you mean false?"), ("log.format", "jsno", #"did you mean "json"?"#),
            ("log.level", "warn", #"did you mean "warning"?"#), ("store", "Memory", #"did you mean "memory"?"#),
            ("store", "sqlit:a", #"did you mean "sqlite:a"?"#),
            ("store", "sqlite::memory:", #"path of a file; did you mean "memory"?"#),
            ("store", "sqlite:file::memory:?cache=shared", #"path of a file; did you mean "memory"?"#),
            ("store", "sqlite:file:a.db?mode=memory", #"path of a file; did you mean "memory"?"#),
            ("store", "sqlite:file:/tmp/a.db?mode=rwc", #"path of a file; did you mean "sqlite:/tmp/a.db"?"#),
        ])
    func guess(path: String, text: String, guess: String) async throws {
        let loaded = try await load(set: [path: text])
        #expect(loaded.problems.map(\.message).joined().hasSuffix(guess))
    }

    @Test(
        "Another store than this build has is refused with those it has, and no password is shown",
        arguments: [
            ("mysql://localhost", #"is "mysql://localhost""#),
            (
                "redis://:secret@localhost",
                "has a password (not shown), which belongs in the file of redis_password_file"
            ),
            (
                "rediss://:secret@localhost",
                "has a password (not shown), which belongs in the file of redis_password_file"
            ),
        ])
    func otherStore(text: String, fault: String) async throws {
        let loaded = try await load(environment: ["CONCIERGE_STORE": text])
        #expect(
            loaded.problems.map(\.description) == [
                "environment CONCIERGE_STORE: error: /store bad_value: store \(fault); "
                    + "allowed is memory, redis://[USER@]HOST[:PORT][/DATABASE], "
                    + "redis+sentinel://[USER@]HOST[:PORT],…/MASTER[/DATABASE], redis+cluster://[USER@]HOST[:PORT],… "
                    + "(with TLS rediss), or sqlite: and the path of a file"
            ])
    }

    @Test("Every default is allowed, and every name of a key, variable and flag is its own")
    func table() throws {
        for key in ConfigurationKey.all {
            #expect(!key.meaning.isEmpty && key.meaning.hasSuffix("."), "\(key.path)")
        }
        #expect(Set(ConfigurationKey.all.map(\.environmentName)).count == ConfigurationKey.all.count)
        #expect(
            ConfigurationKey.all.compactMap(\.flagName).sorted() == [
                "--admin-host", "--admin-port", "--base-path", "--flows", "--host", "--port", "--redis-prefix",
                "--services", "--store", "--workers",
            ])
    }
}

func key(_ path: String) throws -> ConfigurationKey {
    try #require(ConfigurationKey.all.first { $0.path == path })
}

/// A configuration file with one key: `{"admin": {"port": 1}}`.
func nested(_ path: String, _ value: String) -> String {
    let parts = path.split(separator: ".")
    return parts.reversed().reduce(value) { "{\"\($1)\": \($0)}" }
}

@Suite("Durations as text")
struct ConfigurationDurationTests {
    @Test(
        "Short and ISO 8601 forms are read",
        arguments: [
            ("250ms", 250), ("90s", 90_000), ("30m", 1_800_000), ("12h", 43_200_000), ("7d", 604_800_000), ("0s", 0),
            ("007s", 7000), ("PT30M", 1_800_000), ("PT1H30M", 5_400_000), ("P7D", 604_800_000), ("P2W", 1_209_600_000),
            ("P1DT12H", 129_600_000), ("PT0.25S", 250), ("PT1,5S", 1500), ("PT1.005S", 1005), ("PT0S", 0),
        ])
    func good(text: String, milliseconds: Int) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "Anything else is not a duration",
        arguments: [
            "", "s", "10", "10 s", " 10s", "10s ", "1.5h", "-1s", "+1s", "10S", "10sec", "1h30m", "٣s", "1us",
            "P", "PT", "P1", "PT1", "P1Y", "P1M", "P1H", "PT1D", "PT1M1H", "PT1M1M", "P1DT", "pt1m", "PT.5S", "PT1.S",
            "PT1.0005S", "PT0.5M", "PT-1S", "P-1D", "PTT1S", "P1.5D", "PT1.2.3S",
            "9223372036854775807d", "99999999999999999999s", "PT9223372036854775807H", "P106751991167DT24H1S",
        ])
    func bad(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "What is written is short, and reads back the same",
        arguments: [
            (0, "0s"), (1, "1ms"), (1500, "1500ms"), (60_000, "60s"), (90_000, "90s"), (120_000, "2m"),
            (3_600_000, "1h"), (5_400_000, "90m"), (86_400_000, "24h"), (172_800_000, "2d"),
        ])
    func format(milliseconds: Int, text: String) {
        #expect(DurationText.format(.milliseconds(milliseconds)) == text)
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }
}

@Suite("Shipped configuration")
struct ConfigurationReferenceTests {
    private let repository = FileReader(
        directory: #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
            .joined(separator: "/"))

    @Test("config/README.md holds the table of keys; `concierge config --reference` prints it")
    func readme() throws {
        let readme = String(decoding: try repository.read("config/README.md"), as: UTF8.self)
        for row in ConfigurationReference.markdown.split(separator: "\n") {
            #expect(readme.contains(row + "\n"), "config/README.md lacks: \(row)")
        }
        #expect(readme.contains("\n\n" + ConfigurationReference.markdown + "\n"))
    }

    @Test("config/concierge.json has known keys, and every default but a main flow; its services and flows are fine")
    func shippedFile() throws {
        let loaded = ConfigurationLoader(environment: [:], files: repository).load()
        #expect(loaded.problems == [])
        #expect(loaded.file == "config/concierge.json")
        var expected = Configuration()
        expected.services = "config/services"
        expected.flows = "config/flows"
        expected.mainFlow = "main"
        #expect(loaded.configuration == expected)
        #expect(loaded.services.map(\.name).contains("basket"))
        #expect(Set(loaded.flows.ids).isSuperset(of: ["wizard", "edit-quote", "main", "checkout", "money-transfer"]))
        // What differs from machine to machine stands there as a comment.
        let text = String(decoding: try repository.read("config/concierge.json"), as: UTF8.self)
        for match in text.matches(of: #/\/\/ "([a-z_]+)": /#) {
            #expect(ConfigurationKey.all.contains { $0.path.split(separator: ".").last == match.1 }, "\(match.1)")
        }
    }
}
