import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import SQLiteStorage
import Sessions
import Storage
import Support
import Synchronization
import Testing

@Suite("Sessions in a database")
struct StoreTests {
    private static func withDatabase(_ body: (String) async throws -> Void) async throws {
        try await withFolder([:]) { _, folder in try await body("\(folder)/sessions.db") }
    }

    @Test("what was answered is there after a restart: services, labels, user, journey, and the token opens it")
    func restart() async throws {
        try await Self.withDatabase { path in
            let configure = { (configuration: inout Configuration) in
                configuration.store = .sqlite(path)
                configuration.mainFlow = "wizard"
            }
            let token = try await withApplication(flows: [TestFlows.wizard], configure) { app in
                let (_, id, _) = try await app.newSession()
                let token = try await app.signIn("ada", to: id)
                let client = app.client().with(token: token)
                try await client.patch(Paths.current, #"{"labels":{"device":"phone"}}"#)
                let moved = try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
                #expect(moved.screen == "page1")
                return token
            }
            try await withApplication(flows: [TestFlows.wizard], configure) { app in
                let client = app.client().with(token: token)
                let session = try await client.get(Paths.current)
                #expect(session[member: "user_id"] == "ada")
                #expect(session[member: "labels"] == ["device": "phone"])
                let profile = try await client.get(Paths.profile)
                #expect(profile[member: "name"] == "Ada")
                #expect(try await client.get(Paths.main).screen == "page1")
                #expect(try await client.event("back", on: Paths.main).screen == "start")
                #expect(try await app.admin().get("/v1/users/ada/sessions").items.count == 1)
            }
        }
    }

    @Test("what an admin writes while the session ends is written or of none, and not a matter of his token")
    func endedMeanwhile() async throws {
        try await Self.withDatabase { path in
            try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                var refused = 0
                // Nearly always some wait for the writer when their session's end is before them.
                for _ in 0..<40 {
                    let id = try await app.newSession().id
                    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                        for number in 0..<8 {
                            group.addTask {
                                let profile = Paths.service("profile", of: id)
                                return try await app.admin().patch(profile, #"{"name":"\#(number)"}"#).status
                            }
                        }
                        group.addTask { try await app.admin().send("DELETE", "/v1/sessions/\(id)").status }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(statuses.allSatisfy { [200, 204, 404].contains($0) }, "\(statuses)")
                    refused += statuses.count { $0 == 404 }
                }
                #expect(refused > 0)
            }
        }
    }

    @Test("a second server on the same file does not start, and says why")
    func second() async throws {
        try await Self.withDatabase { path in
            try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                let refused = await #expect(throws: RefusedStart.self) {
                    try await withApplication(setting: \.store, to: .sqlite(path)) { _ in
                    }
                }
                #expect(refused?.complaints.contains("\(StoreOpeningError.inUse(path))") == true)
                let answer = try await app.newSession().client.get(Paths.current)
                #expect(answer.status == 200)
            }
        }
    }

    @Test("a start reads no session, however many there are")
    func quickStart() async throws {
        try await Self.withDatabase { path in
            try await Self.beginTour(in: path)
            let names = try ServiceCatalog().names
            let sqlite = try SQLiteStore(path: path, services: names)
            try await Self.fill(sqlite, with: 10_000)
            let store = SteeredStore(sqlite)
            let reads = Atomic<Int>(0)
            store.before { call in
                if call == .load || call == .list { reads.wrappingAdd(1, ordering: .relaxed) }
            }
            try await withApplication(flows: [Self.tour("a")], store: store) { _ in }
            #expect(reads.load(ordering: .relaxed) == 0)
            await sqlite.close()
        }
    }

    @Test("journeys whose flow is gone, or is another under the same version, keep the server from starting")
    func goneFlow() async throws {
        try await Self.withDatabase { path in
            let token = try await Self.beginTour(in: path)
            try await Self.expectRefusal(path, [])
            try await Self.expectRefusal(path, [Self.tour("b")])
            try await withApplication(flows: [Self.tour("a")], setting: \.store, to: .sqlite(path)) { app in
                let ended = try await app.client().with(token: token).send("DELETE", Paths.current)
                #expect(ended.status == 204)
            }
            try await Self.start(path, [])
            // And by now it is forgotten that there ever was such a flow.
            let names = try ServiceCatalog().names
            let store = try SQLiteStore(path: path, services: names)
            #expect(try await store.usedFlows() == [])
            await store.close()
        }
    }

    @Test("a version that is used again after it was forgotten is remembered again")
    func usedAgain() async throws {
        try await Self.withDatabase { path in
            let flows = [Self.tour("a"), Self.tour("a", id: "walk")]
            for flow in ["tour", "walk"] {
                try await withApplication(flows: flows, setting: \.store, to: .sqlite(path)) { app in
                    let client = try await app.newSession().client
                    let json = #"{"flow":"\#(flow)"}"#
                    #expect(try await client.send("PUT", Paths.main, json: json).status == 201)
                    #expect(try await client.send("DELETE", Paths.current).status == 204)
                }
            }
            // One of them is gone, so that both are looked for, and neither is needed.
            try await Self.beginTour(in: path)
            try await Self.expectRefusal(path, [])
        }
    }

    private static func tour(_ screen: String, id: String = "tour") -> String {
        #"{"id":"\#(id)","version":1,"initial":"\#(screen)","states":{"\#(screen)":{"on":{"end":{"#
            + #""target":"z"}}},"z":{"type":"final"}}}"#
    }

    private static func expectRefusal(_ path: String, _ flows: [String]) async throws {
        let refused = await #expect(throws: RefusedStart.self) { try await start(path, flows) }
        #expect(refused?.isForFlow == true)
    }

    private static func start(_ path: String, _ flows: [String]) async throws {
        try await withApplication(flows: flows, setting: \.store, to: .sqlite(path)) { _ in
        }
    }

    /// - Returns: the token of the session whose journey it is.
    @discardableResult
    private static func beginTour(in path: String) async throws -> String {
        try await withApplication(flows: [tour("a")], setting: \.store, to: .sqlite(path)) { app in
            let (client, _, token) = try await app.newSession()
            #expect(try await client.send("PUT", Paths.main, json: #"{"flow":"tour"}"#).status == 201)
            return token
        }
    }

    private static func fill(_ store: SQLiteStore, with count: Int) async throws {
        let now = SystemClock().now()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let id = SessionID(random: SystemRandom())
                    let record = SessionRecord(
                        id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: now,
                        expiresAt: now + 3_600_000, revision: 1, services: [], details: .none)
                    try await store.create(StoredSession(record: record, lastUsedAt: now))
                }
            }
            try await group.waitForAll()
        }
    }

    static let policies: [(policy: Configuration.Durability, shown: JSONDocument)] = [
        (.commit, ["kind": "sqlite", "durability": "commit"]),
        (.interval, ["kind": "sqlite", "durability": "interval", "sync_interval_ms": 250]),
        (.none, ["kind": "sqlite", "durability": "none"]),
    ]

    @Test("statistics and the log name the store and what a write's answer is worth", arguments: policies)
    func statistics(policy: Configuration.Durability, shown: JSONDocument) async throws {
        try await Self.withDatabase { path in
            let file = try LogFile()
            try await withApplication(log: file) {
                $0.store = .sqlite(path)
                $0.durability = policy
                $0.syncInterval = .milliseconds(250)
            } _: { app in
                let statistics = try await app.admin().get("/v1/stats")
                let store = try #require(statistics[member: "store"])
                #expect(store.merging(["file": nil]) == shown && store[member: "file"]?.string != nil)
            }
            let line = try #require(
                try file.lines().map { try JSONDocument(parsing: $0) }.first { $0[string: "event"] == "listening" })
            #expect(line[string: "store"] == "sqlite:\(path)")
            for name in ["durability", "sync_interval_ms"] {
                #expect(line[member: name] == shown[member: name])
            }
        }
    }

    @Test("whatever is configured, sessions in memory end with the process, and it says so")
    func memory() async throws {
        try await withApplication(setting: \.durability, to: .interval) { app in
            let store = try await app.admin().get("/v1/stats")[member: "store"]
            #expect(store == ["kind": "memory", "durability": "none"])
        }
    }

    @Test("without room writes are 507 and reads go on; with an error of the disk writes are 503 and it is not ready")
    func trouble() async throws {
        let store = SteeredStore()
        try await withApplication(store: store) { app in
            let client = try await app.newSession().client
            store.before { call throws(StoreError) in if call == .commit { throw .full("no room") } }
            let full = try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            #expect(full.status == 507)
            #expect(full.code == "storage_full")
            let profile = try await client.get(Paths.profile)
            #expect(profile[member: "name"] == "")
            #expect(try await app.client().get("/health/ready").status == 200)
            store.before { call throws(StoreError) in if call == .commit { throw .unavailable("no sync") } }
            store.fail("The disk does not answer.")
            let failed = try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            #expect(failed.status == 503)
            #expect(failed["Retry-After"] != nil)
            let ready = try await app.client().get("/health/ready")
            #expect(ready.status == 503)
            #expect(ready.text.contains("The disk does not answer."))
            store.before(nil)
            store.fail(nil)
            #expect(try await client.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
            #expect(try await app.client().get("/health/ready").status == 200)
        }
    }
}
