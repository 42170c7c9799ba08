import Configuration
import Foundation
import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// What the running server copies by itself, and what `store restore` does with a copy.
@Suite("Backups")
struct BackupTests {
    /// A folder with an empty folder `backups`, and the program on a database in the former.
    private struct Place {
        let folder: String
        var database: String { "\(folder)/sessions.db" }
        var backups: String { "\(folder)/backups" }
        var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: backups).sorted() }
        }

        /// Runs `body` with a server, and ends it.
        func serve(
            _ settings: String..., end: Int32 = SIGTERM, _ body: (ProgramProcess, UInt16, UInt16) async throws -> Void
        ) async throws {
            let directory = "backup.directory=\(backups)"
            let process = try ProgramProcess(
                ["serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--store", "sqlite:\(database)"]
                    + ([directory, "log.requests=false"] + settings).flatMap { ["--set", $0] })
            let ports = try await process.ports()
            try await body(process, ports.publicPort, ports.adminPort)
            process.send(end)
            #expect(try await process.result().status == (end == SIGKILL ? nil : 0))
        }

        func restore(_ backup: String, _ flags: String...) async throws -> ProgramProcess.Result {
            try await ProgramProcess.run(["store", "restore", backup, "--store", "sqlite:\(database)"] + flags)
        }
    }

    private static func withPlace(_ files: [String: String] = [:], _ body: (Place) async throws -> Void) async throws {
        try await withFolder(files) { _, folder in
            let place = Place(folder: folder)
            if access(place.backups, F_OK) != 0 { #expect(mkdir(place.backups, 0o700) == 0) }
            try await body(place)
        }
    }

    private static func newSession(_ port: UInt16) async throws -> (client: TestClient, token: String) {
        let created = try await TestClient(port: port).send("POST", Paths.sessions)
        let token = try #require(created[member: "token"]?.string)
        return (TestClient(port: port).with(token: token), token)
    }

    @Test("the server makes one at its start, checks it, and removes the oldest of its own and nothing else")
    func series() async throws {
        let others = [
            "notes.txt", "other-20200101T000000Z.db", "sessions-20201301T000000Z.db",
            "sessions-20200101T000000Z.db.old",
            "sessions-99991231T000000Z.db", "sessions-20190101T000000Z.db", "sessions-20190101T000000Z.db-wal",
        ]
        let old = ["sessions-20200101T000000Z.db", "sessions-20210101T000000Z.db", "sessions-20220101T000000Z.db"]
        let partial = "sessions-20220101T000001Z.db.partial"
        var files: [String: String] = [:]
        for name in others + old + [partial] { files["backups/\(name)"] = "x" }
        try await Self.withPlace(files) { place in
            try await place.serve("backup.keep=2") { process, _, adminPort in
                let made = try await process.line(of: "backup_made")
                let name = try #require(made[string: "file"]?.split(separator: "/").last.map(String.init))
                #expect(name.wholeMatch(of: #/sessions-20[0-9]{6}T[0-9]{6}Z\.db/#) != nil)
                #expect(made[member: "sessions"] == 0)
                #expect(try place.names == (others + [old[2], name]).sorted())
                let check = try await ProgramProcess.run(
                    ["store", "check", "--store", "sqlite:\(place.backups)/\(name)"])
                #expect(check.status == 0, "\(check.complaints)")
                let metrics = try await TestClient(port: adminPort).get("/metrics").text
                #expect(metrics.contains("\nconcierge_backups_failed_total 0\n"))
                let age = try #require(metrics.firstMatch(of: #/\nconcierge_backup_age_seconds ([0-9.]+)\n/#)?.output.1)
                #expect(try #require(Double(age)) < 60)
            }
        }
    }

    @Test("the next one begins when the time is over, also after a restart")
    func every() async throws {
        try await Self.withPlace { place in
            try await place.serve("backup.every=1s") { process, port, _ in
                _ = try await process.line(of: "backup_made")
                _ = try await Self.newSession(port)
                let next = try await process.line(of: "backup_made")
                _ = try await process.line(of: "backup_made")
                #expect(next[member: "sessions"]?.int.map { $0 <= 1 } == true)
            }
            let before = try place.names
            #expect(before.count >= 3)
            // The newest is young enough.
            try await place.serve("backup.every=1h") { _, port, adminPort in
                _ = try await Self.newSession(port)
                let metrics = try await TestClient(port: adminPort).get("/metrics").text
                let age = try #require(metrics.firstMatch(of: #/\nconcierge_backup_age_seconds ([0-9.]+)\n/#)?.output.1)
                #expect(try #require(Double(age)) > 0)
            }
            #expect(try place.names == before)
        }
    }

    @Test("what keeps the server from making one is said, and the server goes on and is ready")
    func failure() async throws {
        try await Self.withPlace { place in
            #expect(rmdir(place.backups) == 0)
            try await place.serve("backup.every=1s") { process, port, adminPort in
                let failed = try await process.line(of: "backup_failed")
                #expect(failed[string: "level"] == "error")
                #expect(failed[string: "detail"] == "\(place.backups): No such file or directory.")
                #expect(try await TestClient(port: port).get("/health/ready").status == 200)
                let metrics = try await TestClient(port: adminPort).get("/metrics").text
                #expect(!metrics.contains("\nconcierge_backups_failed_total 0\n"))
                #expect(mkdir(place.backups, 0o700) == 0)
                _ = try await process.line(of: "backup_made")
                // Another server must not remove these.
                let other = Place(folder: place.folder)
                let second = try ProgramProcess([
                    "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--store",
                    "sqlite:\(other.folder)/elsewhere/sessions.db", "--set", "backup.directory=\(other.backups)",
                    // It takes the other's for its own until it makes one.
                    "--set", "backup.every=1s",
                ])
                let refused = try await second.line(of: "backup_failed")
                #expect(refused[string: "detail"]?.contains("has the backups of another server") == true)
                second.send(SIGTERM)
                #expect(try await second.result().status == 0)
            }
        }
    }

    @Test("three commands restore the last one, as docs/store.md shows them")
    func recipe() async throws {
        let block = try #require(
            try DocumentationPage("docs/store.md").blocks.first { $0.text.contains("store restore \"$(ls") })
        try await Self.withPlace { place in
            var tokens: [String] = []
            try await place.serve { process, port, _ in
                _ = try await process.line(of: "backup_made")
                tokens.append(try await Self.newSession(port).token)
            }
            // The second start makes a backup that has the session; its own writes are later.
            for name in try place.names { unlink("\(place.backups)/\(name)") }
            try await place.serve { process, port, _ in
                _ = try await process.line(of: "backup_made")
                let client = TestClient(port: port).with(token: tokens[0])
                try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
                tokens.append(try await Self.newSession(port).token)
            }
            let program = try ProgramProcess.executable()
            let commands = block.text.replacing("/mnt/backups", with: place.backups).split(separator: "\n")
            #expect(commands.count == 3)
            let outputs = try await ShellCommand.outputs(
                of: ShellCommand.all(
                    in: """
                        $ systemctl() { echo "$1"; }
                        $ concierge() { '\(program)' "$@" --store 'sqlite:\(place.database)'; }
                        \(commands.map { "$ \($0)" }.joined(separator: "\n"))
                        """), in: place.folder, addresses: [:])
            #expect(outputs[2] == "stop" && outputs[4] == "start", "\(outputs)")
            let sentence = #/sessions\.db: restored from .*Z\.db, 1 session; the former database is (.*) now/#
            let former = try #require(outputs[3].firstMatch(of: sentence), "\(outputs)").output.1
            try await place.serve { _, port, _ in
                let profile = try await TestClient(port: port).with(token: tokens[0]).get(Paths.profile)
                #expect(profile[member: "name"] == "")
                #expect(try await TestClient(port: port).with(token: tokens[1]).get(Paths.profile).status == 401)
            }
            let stats = try await ProgramProcess.run(["store", "stats", "--json", "--store", "sqlite:\(former)"])
            #expect(try JSONDocument(parsing: stats.output)[member: "sessions"] == 2, "\(stats.complaints)")
        }
    }

    @Test("restore refuses to lose a log, and to restore what is damaged")
    func refusals() async throws {
        try await Self.withPlace { place in
            var backup = ""
            try await place.serve(end: SIGKILL) { process, port, _ in
                backup = try #require(try await process.line(of: "backup_made")[string: "file"])
                _ = try await Self.newSession(port)
                let running = try await place.restore(backup)
                #expect(running.status == 1 && running.complaints.contains("is in use by another process"))
            }
            let pending = try await place.restore(backup)
            #expect(pending.status == 1)
            #expect(pending.complaints.contains("sessions.db-wal has writes that are not in"), "\(pending.complaints)")
            // A database with its log is no backup.
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: place.database + ending, toPath: "\(place.folder)/copy.db\(ending)")
            }
            let copied = try await place.restore("\(place.folder)/copy.db")
            #expect(copied.status == 1 && copied.complaints.contains("copy.db-wal has writes that are not in"))
            // The database alone is missing.
            unlink(place.database)
            let lone = try await place.restore(backup)
            #expect(lone.status == 1 && lone.complaints.contains("has writes that belong to it"), "\(lone.complaints)")
            for ending in ["-wal", "-shm"] { unlink(place.database + ending) }

            let damaged = "\(place.folder)/damaged.db"
            var bytes = try Data(contentsOf: URL(filePath: backup))
            bytes[bytes.count - 100] ^= 1
            try bytes.write(to: URL(filePath: damaged))
            let refused = try await place.restore(damaged)
            #expect(refused.status == 1 && refused.complaints.contains("Something is wrong in \(damaged)"))
            #expect(access(place.database, F_OK) != 0)
            #expect(try await place.restore(damaged, "--force").status == 0)
            for (file, says) in [
                ("\(place.folder)/none.db", "does not exist"),
                ("\(place.folder)/copy.db-wal", "file is not a database"),
            ] {
                let refused = try await place.restore(file)
                #expect(refused.status == 1 && refused.complaints.contains(says), "\(refused.complaints)")
            }
            #expect(try await place.restore(backup).status == 0)
            let itself = try await place.restore(place.database)
            #expect(itself.status == 1 && itself.complaints.contains("is the store itself"), "\(itself.complaints)")
            let usage = try await ProgramProcess.run(["store", "restore"])
            #expect(usage.status == 2 && usage.complaints.contains("the path of the file to be restored"))
        }
    }

    @Test("check refuses settings with which there could be no backups")
    func settings() async throws {
        try await withFolder(["file": ""]) { _, folder in
            for (store, settings, status, says) in [
                ("sqlite:\(folder)/s.db", ["backup.directory=\(folder)"], Int32(0), ", 0 warnings"),
                ("sqlite:\(folder)/s.db", ["backup.keep=3"], 0, "backup.directory is missing"),
                ("sqlite:\(folder)/s.db", ["backup.directory=\(folder)/none"], 0, "No such file or directory"),
                ("sqlite:\(folder)/s.db", ["backup.directory=\(folder)/file"], 2, "not a directory"),
                ("sqlite:\(folder)/s.db", ["backup.directory=\(folder)", "backup.keep=0"], 2, "from 1 to"),
                ("sqlite:\(folder)/s.db", ["backup.directory=\(folder)", "backup.every=0s"], 2, "/backup/every"),
                ("memory", ["backup.directory=\(folder)"], 2, "store is memory, of which"),
            ] {
                let run = try await ProgramProcess.run(
                    ["check", "--store", store] + settings.flatMap { ["--set", $0] })
                #expect(run.status == status && (run.output + run.complaints).contains(says), "\(run)")
            }
        }
    }
}
