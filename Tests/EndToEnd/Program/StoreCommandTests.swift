import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import Sessions
import Storage
import Support
import Synchronization
import Testing

@Suite("The program and its store")
struct StoreCommandTests {
    private final class End: Sendable {
        let isReached = Atomic<Bool>(false)
    }

    /// A server on a file, and the flags with which a command finds both.
    private static func withServer(
        _ body: (RunningApplication, _ path: String, _ flags: [String]) async throws -> Void
    ) async throws {
        try await withFolder([:]) { _, folder in
            let path = "\(folder)/sessions.db"
            try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                try await body(app, path, ["--store", "sqlite:\(path)", "--admin-port", "\(app.adminPort)"])
            }
        }
    }

    private static func stats(_ flags: [String]) async throws -> JSONDocument {
        let run = try await ProgramProcess.run(["store", "stats", "--json"] + flags)
        #expect(run.status == 0, "\(run.complaints)")
        return try JSONDocument(parsing: run.output)
    }

    /// Writes without a pause, in several sessions at once, until `body` is done. No request may be refused.
    private static func underWrites(_ app: RunningApplication, _ body: () async throws -> Void) async throws {
        let end = End()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let client = try await app.newSession().client
                    var count = 0
                    while !end.isReached.load(ordering: .relaxed) || count == 0 {
                        let answer = try await client.send("PATCH", Paths.profile, json: #"{"name":"\#(count)"}"#)
                        #expect(answer.status == 200, "\(answer.text)")
                        count += 1
                    }
                    return count
                }
            }
            try await body()
            end.isReached.store(true, ordering: .relaxed)
            for try await count in group { #expect(count > 0) }
        }
    }

    @Test("stats says what is in the file, while the server runs on it")
    func statistics() async throws {
        try await Self.withServer { app, path, flags in
            for user in ["ada", "grace"] {
                let (client, id, _) = try await app.newSession()
                try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
                if user == "ada" { _ = try await app.signIn(user, to: id) }
            }
            let stats = try await Self.stats(flags)
            #expect(stats[string: "file"] == path)
            #expect(stats[member: "sessions"] == 2 && stats[member: "sessions_of_users"] == 1)
            #expect(stats[member: "services"]?[member: "profile"]?[member: "count"] == 2)
            #expect(stats[member: "incremental_vacuum"] == true)
            #expect(try #require(stats[string: "oldest"]) <= (try #require(stats[string: "newest"])))
            let text = try await ProgramProcess.run(["store", "stats"] + flags)
            #expect(text.status == 0)
            #expect(text.output.contains("sessions  2, 1 of them with a user"))
            #expect(text.output.contains("profile: 2, "))
        }
    }

    @Test("backup copies what was answered while the server writes on; the copy opens as a store")
    func backup() async throws {
        try await Self.withServer { app, path, flags in
            let (client, _, token) = try await app.newSession()
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let copy = path + ".copy"
            try await Self.underWrites(app) {
                let run = try await ProgramProcess.run(["store", "backup", copy] + flags)
                #expect(run.status == 0, "\(run.complaints)")
                #expect(run.output.hasPrefix("\(copy): "))
                for (target, sentence) in [
                    (copy, "already exists"), (path, "is the store itself"), (path + "/x", "could not be written"),
                ] {
                    let refused = try await ProgramProcess.run(["store", "backup", target] + flags)
                    #expect(refused.status == 1 && refused.complaints.contains(sentence), "\(refused.complaints)")
                }
                #expect(try await ProgramProcess.run(["store", "backup", copy, "--force"] + flags).status == 0)
            }
            let check = try await ProgramProcess.run(["store", "check", "--store", "sqlite:\(copy)"])
            #expect(check.status == 0, "\(check.complaints)")
            try await withApplication(setting: \.store, to: .sqlite(copy)) { app in
                let profile = try await app.client().with(token: token).get(Paths.profile)
                #expect(profile[member: "name"] == "Ada")
            }
        }
    }

    @Test("repair makes a store of a damaged one, and says what is missing; clients keep their tokens")
    func repair() async throws {
        try await withFolder([:]) { _, folder in
            let (path, repaired) = ("\(folder)/sessions.db", "\(folder)/repaired.db")
            var tokens: [String] = []
            try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                for _ in 0..<20 {
                    let (client, _, token) = try await app.newSession()
                    try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
                    tokens.append(token)
                }
                let refused = try await ProgramProcess.run(["store", "repair", repaired, "--store", "sqlite:\(path)"])
                #expect(refused.status == 1 && refused.complaints.contains("is in use"), "\(refused.complaints)")
            }
            // Page 1 has the schema.
            let file = open(path, O_RDWR)
            defer { close(file) }
            #expect(pwrite(file, [UInt8](repeating: 0, count: 4_096), 4_096, 0) == 4_096)
            let run = try await ProgramProcess.run(["store", "repair", repaired, "--store", "sqlite:\(path)"])
            #expect(run.status == 0 && run.complaints == "", "\(run.complaints)")
            #expect(run.output.hasPrefix("\(repaired): 20 sessions, "), "\(run.output)")
            #expect(run.output.hasSuffix("; nothing is missing\n"))
            let check = try await ProgramProcess.run(["store", "check", "--store", "sqlite:\(repaired)"])
            #expect(check.status == 0, "\(check.complaints)")
            try await withApplication(setting: \.store, to: .sqlite(repaired)) { app in
                for token in tokens {
                    let profile = try await app.client().with(token: token).get(Paths.profile)
                    #expect(profile[member: "name"] == "Ada")
                }
            }
        }
    }

    @Test(
        "vacuum has a running server give its free pages back, and no request is refused meanwhile",
        .timeLimit(.minutes(2)))
    func vacuum() async throws {
        try await Self.withServer { app, path, flags in
            var clients: [TestClient] = []
            for _ in 0..<40 {
                let client = try await app.newSession().client
                let text = String(repeating: "a", count: 20_000)
                try await client.patch(Paths.profile, #"{"attributes":{"text":"\#(text)"}}"#)
                clients.append(client)
            }
            for client in clients { #expect(try await client.send("DELETE", Paths.current).status == 204) }
            #expect(try #require(try await Self.stats(flags)[member: "free_pages"]?.int) > 150)
            try await Self.underWrites(app) {
                let run = try await ProgramProcess.run(["store", "vacuum"] + flags)
                #expect(run.status == 0, "\(run.complaints)")
                #expect(run.output.contains("pages were returned by the server"))
            }
            #expect(try #require(try await Self.stats(flags)[member: "free_pages"]?.int) < 10)
            #expect(try await ProgramProcess.run(["store", "check"] + flags).status == 0)
            // Nobody is there.
            let lost = try await ProgramProcess.run(
                ["store", "vacuum", "--store", "sqlite:\(path)", "--admin-port", "1"])
            #expect(lost.status == 1 && lost.complaints.contains("--admin-port"), "\(lost.complaints)")
        }
    }

    @Test("vacuum asks no server that has another store", arguments: [true, false])
    func otherServer(hasFile: Bool) async throws {
        try await Self.withServer { _, _, flags in
            try await withFolder([:]) { _, folder in
                let path = "\(folder)/other.db"
                try await withApplication(setting: \.store, to: hasFile ? .sqlite(path) : .memory) { other in
                    let named = Array(flags.prefix(2)) + ["--admin-port", "\(other.adminPort)"]
                    let run = try await ProgramProcess.run(["store", "vacuum"] + named)
                    #expect(run.status == 1 && run.output == "")
                    #expect(run.complaints.contains("has another store: name its admin listener"))
                    let counted = try await other.admin().get("/metrics").text.split(separator: "\n").filter {
                        $0.hasPrefix("concierge_http_requests_total")
                    }
                    #expect(counted.contains { $0.contains("/v1/stats") })
                    #expect(!counted.contains { $0.contains("/v1/store/free-pages") })
                }
            }
        }
    }

    @Test(
        "an encrypted store: nothing that was written is in its files, no start without the key, rekey by the command")
    func encrypted() async throws {
        let (old, new) = ("old:\(String(repeating: "A", count: 43))=\n", "new:\(String(repeating: "B", count: 42))A=\n")
        try await withFolder(["old": old, "new": new, "both": new + old]) { _, folder in
            let path = "\(folder)/sessions.db"
            // The first one is short and in its session's row, the other ones are in the journey and beside the row.
            let canaries = ["canary-of-labels", "canary-of-profile", "canary-of-a-journey", "canary-of-a-large-one"]
            func expectNone(_ when: String) throws {
                for name in ["sessions.db", "sessions.db-wal"] {
                    guard let file = fopen("\(folder)/\(name)", "r") else { continue }
                    defer { fclose(file) }
                    var bytes = [UInt8](repeating: 0, count: 8 << 20)
                    bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
                    let text = String(decoding: bytes.map { $0 < 0x80 ? $0 : 0x20 }, as: UTF8.self)
                    for canary in canaries { #expect(!text.contains(canary), "\(canary), \(name), \(when)") }
                }
            }
            let configure = { (configuration: inout Configuration, keys: String) in
                configuration.store = .sqlite(path)
                configuration.encryptionKeys = DocumentKeys(Array(keys.utf8))
                configuration.mainFlow = "jot"
            }
            let services = try OwnedServiceTests.services()
            let flow = """
                {"id": "jot", "version": 1, "initial": "input", "owns": ["note"], "states": {"input": {
                    "data": ["note"], "on": {
                        "write": {"actions": [{"op": "add", "path": "/note/text", "value": {"$from": "/event/text"}}]}}}}}
                """
            let token = try await withApplication(services: services, flows: [flow], { configure(&$0, old) }) { app in
                let (client, _, token) = try await app.newSession()
                try await client.patch(Paths.current, #"{"labels":{"device":"\#(canaries[0])"}}"#)
                try await client.event("write", #"{"text":"\#(canaries[2])"}"#, on: Paths.main)
                try await client.patch(Paths.profile, #"{"name":"\#(canaries[1])"}"#)
                let long = String(repeating: "\(canaries[3]) ", count: 100)
                try await client.patch(Paths.profile, #"{"attributes":{"text":"\#(long)"}}"#)
                try expectNone("while the server runs")
                return token
            }
            try expectNone("after its end")
            func run(_ command: [String], keys: String?) async throws -> ProgramProcess.Result {
                let flags =
                    ["--store", "sqlite:\(path)"]
                    + (keys.map { ["--set", "encryption_keys_file=\(folder)/\($0)"] } ?? [])
                return try await ProgramProcess.run(command + flags)
            }
            for (keys, words) in [(nil, "no keys are given"), ("new", "is not in encryption_keys_file")] {
                for command in [["serve", "--port", "0"], ["check"]] {
                    let refused = try await run(command, keys: keys)
                    #expect(refused.status != 0 && refused.complaints.contains(words), "\(refused.complaints)")
                }
            }
            let rekey = try await run(["store", "rekey"], keys: "both")
            #expect(rekey.status == 0 && rekey.output.contains("of 1 sessions were sealed anew"), "\(rekey.output)")
            #expect(try await run(["store", "check"], keys: "new").status == 0)
            #expect(try await run(["store", "rekey"], keys: "old").status == 1)
            try expectNone("after a rekey")
            try await withApplication(services: services, flows: [flow], { configure(&$0, new) }) { app in
                let client = app.client().with(token: token)
                let paths = [Paths.current, Paths.profile, Paths.main, Paths.profile]
                for (path, canary) in zip(paths, canaries) {
                    let text = try await client.send("GET", path).text
                    #expect(text.contains(canary))
                }
            }
        }
    }

    @Test("without a server all of it works as well, and says what is not there")
    func alone() async throws {
        try await withFolder([:]) { _, folder in
            let path = "\(folder)/sessions.db"
            let flags = ["--store", "sqlite:\(path)"]
            for action in [["check"], ["stats"], ["backup", "\(folder)/copy"], ["vacuum"]] {
                let run = try await ProgramProcess.run(["store"] + action + flags)
                #expect(run.status == 1)
                #expect(run.complaints == "concierge: \(StoreOpeningError.missing(path))\n")
            }
            try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                let client = try await app.newSession().client
                try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
                #expect(try await client.send("DELETE", Paths.current).status == 204)
            }
            for action in [["check"], ["stats"], ["backup", "\(folder)/copy"], ["vacuum"]] {
                let run = try await ProgramProcess.run(["store"] + action + flags)
                #expect(run.status == 0, "\(run.complaints)")
            }
        }
    }
}
