import Glibc
import Support
import Testing

/// `scripts/run`, with a program and a stand-in that only say that they run.
@Suite("scripts/run and scripts/stand-in")
struct RunTests {
    /// Runs the script where `config` prints what the real program prints with this configuration file.
    private static func run(
        _ flags: [String], _ environment: [String: String] = [:], file: String = "{}"
    ) async throws -> String {
        let real = try ProgramProcess.executable()
        let files = [
            "scripts/run": try ShippedFiles.text("scripts/run"),
            "scripts/stand-in": "#!/bin/sh\necho \"stand-in $1\"\n",
            ".build/release/concierge": """
            #!/bin/sh
            [ "$1" != serve ] || { echo serves; exit; }
            exec '\(real)' "$@"
            """,
            "config/concierge.json": file,
        ]
        return try await withFolder(files) { _, folder in
            for name in ["scripts/run", "scripts/stand-in", ".build/release/concierge"] {
                #expect(chmod("\(folder)/\(name)", 0o700) == 0)
            }
            let process = try ProgramProcess(
                command: ["\(folder)/scripts/run"] + flags,
                environment: ["PATH": "/usr/bin:/bin", "MAKE": "true"].merging(environment) { $1 })
            let result = try await process.result()
            #expect(result.status == 0 && result.output == "serves\n", "\(result.output)\(result.complaints)")
            return result.complaints
        }
    }

    /// Ports on which nothing listens as long as the system gives ports to others from 32768 on.
    private static let ports = ["--port", "28741", "--admin-port", "28742"]

    @Test("the stand-in runs where nothing but ports is chosen")
    func standIn() async throws {
        #expect(try await Self.run(Self.ports) == "stand-in 28742\n")
        #expect(try await Self.run(["--port=28741", "--admin-port=28742"]) == "stand-in 28742\n")
        let variables = ["CONCIERGE_PORT": "28741", "CONCIERGE_ADMIN_PORT": "28742"]
        #expect(try await Self.run([], variables) == "stand-in 28742\n")
    }

    static let choices: [(flags: [String], environment: [String: String], file: String)] = [
        (["--no-stand-in"], [:], "{}"), (["--set", "host=0.0.0.0"], [:], "{}"), (["--host", "127.0.0.1"], [:], "{}"),
        (["--store", "redis://127.0.0.1:6379/0"], [:], "{}"), (["--store=memory"], [:], "{}"),
        (["--set", "store=redis://127.0.0.1:6379/0"], [:], "{}"), (["--set", "demo=false"], [:], "{}"),
        (["--config", "config/concierge.json"], [:], "{}"),
        ([], ["CONCIERGE_STORE": "redis://127.0.0.1:6379/0"], "{}"), ([], ["CONCIERGE_HOST": "0.0.0.0"], "{}"),
        ([], ["CONCIERGE_CONFIG": "config/concierge.json"], "{}"), ([], ["CONCIERGE_DEMO": "true"], "{}"),
        ([], [:], #"{"store": "redis://127.0.0.1:6379/0"}"#),
        ([], [:], #"{"proxies": {"networks": ["10.0.0.0/8"]}}"#),
    ]

    @Test("the stand-in does not run where a flag, a variable or the file chooses something else", arguments: choices)
    func chosen(flags: [String], environment: [String: String], file: String) async throws {
        #expect(try await Self.run(Self.ports + flags, environment, file: file) == "")
    }

    @Test("the stand-in ends with the server, also when something else listens there", .timeLimit(.minutes(1)))
    func orphan() async throws {
        try await withApplication { app in
            let server = try ProgramProcess(command: ["/bin/true"], environment: [:])
            #expect(try await server.result().status == 0)
            let standIn = try ProgramProcess(
                command: [
                    "\(ShippedFiles.directory)/scripts/stand-in", "\(app.adminPort)", "\(server.identifier)",
                ], environment: ["PATH": "/usr/bin:/bin"])
            #expect(try await standIn.result().status == 0)
        }
    }
}
