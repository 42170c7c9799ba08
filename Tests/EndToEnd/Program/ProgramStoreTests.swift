import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// The program as somebody starts it who has read nothing.
@Suite("Where the program keeps sessions by itself")
struct ProgramStoreTests {
    private static let free = ["serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"]

    private static func start(in folder: String, _ arguments: [String] = []) throws -> ProgramProcess {
        try ProgramProcess(free + arguments, through: ["/usr/bin/env", "-C", folder])
    }

    @Test(
        "sessions are in data/concierge.db, and there after a restart and after a kill", arguments: [SIGTERM, SIGKILL])
    func restart(signal: Int32) async throws {
        try await withFolder([:]) { _, folder in
            let first = try Self.start(in: folder)
            let line = try await first.line(of: "listening")
            #expect(line[string: "store"] == "sqlite:data/concierge.db")
            #expect(line[string: "durability"] == "commit")
            let client = try TestClient(port: Self.port(line))
            let created = try await client.send("POST", Paths.sessions)
            let token = try #require(created[member: "token"]?.string)
            let written = try await client.with(token: token).patch(Paths.profile, #"{"name":"Ada"}"#)
            #expect(written.status == 200)
            first.send(signal)
            _ = try await first.result()
            #expect(access("\(folder)/data/concierge.db", F_OK) == 0)
            let second = try Self.start(in: folder)
            let again = TestClient(port: try await second.ports().publicPort).with(token: token)
            #expect(try await again.get(Paths.profile)[member: "name"] == "Ada")
            second.send(SIGTERM)
            #expect(try await second.result().status == 0)
        }
    }

    @Test("threads have names")
    func threads() async throws {
        try await withFolder([:]) { _, folder in
            let program = try Self.start(in: folder, ["--workers", "2"])
            _ = try await program.line(of: "listening")
            var found = glob_t()
            defer { globfree(&found) }
            #expect(glob("/proc/\(program.identifier)/task/*/comm", 0, nil, &found) == 0)
            let names = (0..<Int(found.gl_pathc)).compactMap { place in
                found.gl_pathv[place].map { Self.line(of: String(cString: $0)) }
            }
            let expected = ["worker 0", "worker 1", "store writer", "store reader", "store writeback", "log writer"]
            for name in expected { #expect(names.contains(name), "\(names)") }
            program.send(SIGTERM)
            #expect(try await program.result().status == 0)
        }
    }

    private static func line(of path: String) -> String {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32)
        return String(decoding: bytes[..<max(0, read(file, &bytes, bytes.count) - 1)], as: UTF8.self)
    }

    static let unusable: [(store: String, says: String)] = [
        ("sqlite:a/b/c.db", "neither a/b nor a exists: make it, or name another file"),
        ("sqlite:folder", "it is a directory: name a file in it, such as folder/concierge.db"),
        ("sqlite:text", "it is not an SQLite database: name another file"),
        // The superuser may write to any directory, and only creating the file fails.
        (
            "sqlite:/proc/concierge.db",
            geteuid() == 0
                ? "make it writable, or name another file"
                : "user \(geteuid()) may not write to /proc: give it the right to"
        ),
    ]

    @Test("a store that cannot be is one sentence that says what to do, and status 1", arguments: unusable)
    func refuses(store: String, says: String) async throws {
        try await withFolder(["folder/x": "", "text": "no database"]) { _, folder in
            let result = try await Self.start(in: folder, ["--store", store]).result()
            #expect(result.status == 1)
            #expect(result.lines.count == 1, "\(result.complaints)")
            #expect(result.complaints.hasPrefix("concierge: \(store.dropFirst("sqlite:".count)) cannot be used"))
            #expect(result.complaints.contains(says), "\(result.complaints)")
        }
    }

    @Test("a directory that may not be written is one sentence with the user and what to do")
    func notAllowed() async throws {
        try await withFolder(["data/x": ""]) { _, folder in
            #expect(chmod(folder, 0o755) == 0 && chmod("\(folder)/data", 0o555) == 0)
            // Nothing keeps the superuser from writing.
            let other = geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65532", "--clear-groups"] : []
            for command in [Self.free, ["check"]] {
                let result = try await ProgramProcess(command, through: other + ["/usr/bin/env", "-C", folder]).result()
                #expect(result.status == (command == ["check"] ? 2 : 1))
                let user = geteuid() == 0 ? 65_532 : Int(geteuid())
                #expect(
                    result.complaints.contains("user \(user) may not write to data: give it the right to"),
                    "\(result.complaints)")
            }
            #expect(chmod("\(folder)/data", 0o700) == 0)
        }
    }

    @Test("check notices a store that cannot be, and makes nothing")
    func check() async throws {
        try await withFolder(["text": "no database"]) { _, folder in
            func check(_ arguments: [String]) async throws -> ProgramProcess.Result {
                try await ProgramProcess(["check"] + arguments, through: ["/usr/bin/env", "-C", folder]).result()
            }
            let good = try await check([])
            #expect(good.status == 0, "\(good.complaints)")
            #expect(access("\(folder)/data", F_OK) != 0)
            let bad = try await check(["--store", "sqlite:text"])
            #expect(bad.status == 2)
            #expect(
                bad.complaints
                    == "flag --store: error: /store unusable_store: text cannot be used as a store: it is not an "
                    + "SQLite database: name another file.\n")
            #expect(try await check(["--store", "memory"]).status == 0)
        }
    }

    private static func port(_ line: JSONDocument) throws -> UInt16 {
        try #require(line[string: "public"]?.split(separator: ":").last.flatMap { UInt16($0) })
    }
}
