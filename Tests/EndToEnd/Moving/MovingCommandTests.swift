import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Synchronization
import Testing

@Suite("concierge export and concierge import")
struct MovingCommandTests {
    private static func run(_ arguments: [String], on app: RunningApplication) async throws -> ProgramProcess.Result {
        try await ProgramProcess.run(arguments + ["--admin-port", "\(app.adminPort)"])
    }

    /// An archive of several requests, in a file.
    private static func withArchive(
        of sessions: Int = 400, changing: (inout [[UInt8]]) -> Void = { _ in },
        _ body: (_ file: String, _ folder: String, _ text: String) async throws -> Void
    ) async throws {
        var archive = TestArchive()
        let text = String(repeating: "a", count: 5_000)
        let profile = #"{"name":"Ada","email":null,"locale":null,"attributes":{"text":"\#(text)"}}"#
        var lines = [archive.header] + (1...sessions).map { archive.session($0, profile: profile) } + [archive.end]
        changing(&lines)
        let joined = String(decoding: lines.joined(), as: UTF8.self)
        try await withFolder(["sessions.ndjson": joined]) { _, folder in
            try await body("\(folder)/sessions.ndjson", folder, joined)
        }
    }

    @Test("bring everything from one server to another, in one archive of several requests")
    func thereAndBack() async throws {
        try await Self.withArchive { file, folder, text in
            try await withApplication { configuration in
                configuration.limits.sessionBytes = 1 << 16
            } _: { app in
                let imported = try await Self.run(["import", file], on: app)
                let report = try JSONDocument(parsing: imported.output)
                #expect(imported.status == 0 && report[member: "imported"]?.int == 400, "\(imported)")
                #expect(report[member: "complete"]?.bool == true && report[string: "last"] == TestArchive.cursor(400))
                let copy = "\(folder)/copy.ndjson"
                let exported = try await Self.run(["export", copy], on: app)
                #expect(exported.status == 0 && exported.output == "\(copy): 400 sessions\n", "\(exported)")
                // Only with --force into a file that exists.
                #expect(try await Self.run(["export", copy], on: app).status == 1)
                let rest = try await Self.run(["export", copy, "--force", "--after", TestArchive.cursor(390)], on: app)
                #expect(rest.output == "\(copy): 10 sessions\n", "\(rest)")
                let again = try JSONDocument(parsing: try await Self.run(["import", copy], on: app).output)
                #expect(again[member: "skipped"]?.int == 10 && again[member: "complete"]?.bool == true)
                let tried = try await Self.run(["import", file, "--replace", "--dry-run"], on: app)
                #expect(try JSONDocument(parsing: tried.output)[member: "replaced"]?.int == 400)
                // One request has no room for it.
                let whole = try await app.admin().send(
                    "POST", "/v1/imports", json: text + text, fields: [("Content-Type", "application/x-ndjson")])
                #expect(whole.status == 413 && whole.text.contains("`concierge import`"), "\(whole.text)")
            }
        }
    }

    @Test("an import that stops says where, and goes on from there; the archive is still checked as a whole")
    func goesOn() async throws {
        let store = SteeredStore()
        let room = Atomic<Int>(250)
        store.before { call throws(StoreError) in
            if call == .create, room.wrappingSubtract(1, ordering: .relaxed).oldValue <= 0 { throw .full("no room") }
        }
        try await Self.withArchive { file, _, _ in
            try await withApplication(store: store) { app in
                let stopped = try await Self.run(["import", file], on: app)
                #expect(stopped.status == 1)
                #expect(try JSONDocument(parsing: stopped.output)[member: "imported"]?.int == 250, "\(stopped)")
                let line = try #require(stopped.complaints.firstMatch(of: /go on with --from (\d+)/)?.1)
                #expect(try #require(Int(line)) > 100)
                room.store(1_000, ordering: .relaxed)
                let rest = try await Self.run(["import", file, "--from", String(line)], on: app)
                let report = try JSONDocument(parsing: rest.output)
                #expect(rest.status == 0 && report[member: "complete"]?.bool == true, "\(rest)")
                #expect(report[member: "imported"]?.int == 150)
            }
        }
    }

    /// What is done to the lines, how many are imported, and the first line with an error.
    private static let damages: [(change: @Sendable (inout [[UInt8]]) -> Void, imported: Int, line: Int)] = [
        ({ $0[300][40] ^= 1 }, 399, 301), ({ $0.remove(at: 300) }, 399, 401), ({ $0.removeLast() }, 400, 401),
        ({ $0.swapAt(10, 390) }, 400, 402),
    ]

    @Test("what is wrong with the archive is told by its line, whatever request it is in", arguments: damages.indices)
    func damaged(index: Int) async throws {
        let damage = Self.damages[index]
        try await Self.withArchive(changing: damage.change) { file, _, _ in
            try await withApplication { app in
                let run = try await Self.run(["import", file], on: app)
                let report = try JSONDocument(parsing: run.output)
                #expect(run.status == 1 && report[member: "complete"]?.bool == false, "\(run)")
                #expect(report[member: "imported"]?.int == damage.imported)
                #expect(report[member: "errors"]?[0]?[member: "line"]?.int == damage.line, "\(run)")
            }
        }
    }

    @Test("what is no export, or reaches no server, is said to be so")
    func refused() async throws {
        try await withFolder(["other.json": "{}\n", "key": "0123456789abcdef0123456789abcdef"]) { _, folder in
            try await withApplication(setting: \.admin.key, to: Secret("0123456789abcdef0123456789abcdef")) { app in
                let other = try await Self.run(["import", "\(folder)/other.json"], on: app)
                #expect(other.status == 1 && other.complaints.contains("is no export"))
                let file = "\(folder)/new"
                let key = ["--admin-key-file", "\(folder)/key"]
                let withoutKey = try await Self.run(["export", file], on: app)
                #expect(withoutKey.status == 1 && withoutKey.complaints.contains("requires its key"))
                #expect(try await Self.run(["export", file] + key, on: app).output == "\(file): 0 sessions\n")
                #expect(try await Self.run(["import", file] + key, on: app).status == 0)
                let absent = try await ProgramProcess.run(["import", file, "--admin-port", "1"])
                #expect(absent.status == 1 || absent.complaints.isEmpty, "\(absent)")
                for target in [file, "\(file)2"] {
                    let vain = try await ProgramProcess.run(["export", target, "--force", "--admin-port", "1"])
                    #expect(vain.status == 1)
                    #expect(access("\(target).partial", F_OK) != 0)
                }
                #expect(access(file, F_OK) == 0 && access("\(file)2", F_OK) != 0, "the former export is still there")
                let beyond = try await Self.run(["import", file, "--from", "9"] + key, on: app)
                #expect(beyond.status == 1 && beyond.complaints.contains("lines"), "\(beyond)")
            }
        }
    }
}
