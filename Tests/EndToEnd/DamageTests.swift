import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// What clients see of a database that has lost pages.
@Suite("Damage in the database")
struct DamageTests {
    /// Is on every page of a large document.
    private static let mark = "LARGE-DOCUMENT "
    private static let profile = #"{"name":"Ada","attributes":{"text":"\#(String(repeating: mark, count: 400))"}}"#
    private static let note = Paths.service("temporary-profile")

    private static func withTokens(
        _ count: Int, _ body: (_ path: String, _ tokens: [String]) async throws -> Void
    ) async throws {
        try await withFolder([:]) { _, folder in
            let path = "\(folder)/sessions.db"
            let tokens = try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                var tokens: [String] = []
                for _ in 0..<count {
                    let (client, _, token) = try await app.newSession()
                    #expect(try await client.send("PUT", Paths.profile, json: profile).status == 200)
                    #expect(try await client.patch(note, #"{"name":"Eva"}"#).status == 200)
                    tokens.append(token)
                }
                return tokens
            }
            try await body(path, tokens)
        }
    }

    private static func isDamaged(_ response: TestResponse) -> Bool {
        response.status == 503 && response.code == "data_damaged" && response["Retry-After"] != nil
    }

    @Test("a service that is damaged is 503 until it is replaced, cleared or removed; the rest of its session lives")
    func documents() async throws {
        try await Self.withTokens(4) { path, tokens in
            #expect(try Self.zero(path) { $0.firstRange(of: Self.mark.utf8) != nil } > 4)
            // What is damaged stays so, whatever is written beside it and however often the server starts.
            for round in 0..<2 {
                try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                    for token in tokens {
                        let client = app.client().with(token: token)
                        #expect(Self.isDamaged(try await client.get(Paths.profile)))
                        #expect(Self.isDamaged(try await client.patch(Paths.profile, #"{"name":"Bo"}"#)))
                        let transaction = #"""
                            {"operations":[{"op":"put","service":"temporary-profile","value":{"name":"Bo"}},
                             {"op":"patch","service":"profile","value":{"name":"Bo"}}]}
                            """#
                        #expect(Self.isDamaged(try await client.send("POST", Paths.transactions, json: transaction)))
                        #expect(try await client.get(Self.note)[member: "name"] == "Eva")
                        #expect(try await client.patch(Self.note, #"{"email":"\#(round)@example.org"}"#).status == 200)
                        let services = try await client.get(Paths.services)
                        let listed = services.items.first { $0[string: "name"] == "profile" }
                        #expect(listed?[string: "status"] == "live")
                        #expect(try await client.get(Paths.current).status == 200)
                    }
                    #expect(try await app.client().get("/health/ready").status == 200)
                }
            }
            try await withApplication(setting: \.store, to: .sqlite(path)) { app in
                let clients = tokens.map { app.client().with(token: $0) }
                let replaced = try await clients[0].send("PUT", Paths.profile, json: Self.profile)
                #expect(replaced.status == 200)
                #expect(try await clients[0].get(Paths.profile)[member: "name"] == "Ada")
                #expect(try await clients[1].send("DELETE", Paths.profile).status == 204)
                #expect(try await clients[1].get(Paths.profile)[member: "name"] == "")
                #expect(try await clients[2].send("DELETE", Paths.profile + "/state").status == 204)
                #expect(try await clients[2].get(Paths.profile)[member: "name"] == "")
                #expect(try await clients[3].send("DELETE", Paths.current).status == 204)
            }
        }
    }

    @Test("a session on a page that is lost is 503 and not 401; the others go on; the server says if it cannot")
    func sessions() async throws {
        try await Self.withTokens(60) { path, tokens in
            // Leaves of tables are pages of kind 13; that of the documents have their mark.
            var isFirst = true
            let lost = try Self.zero(path) { page in
                guard isFirst, page[0] == 13, page.firstRange(of: "temporary-profile".utf8) != nil else { return false }
                isFirst = false
                return true
            }
            try #require(lost == 1)
            let log = try LogFile()
            try await withApplication(log: log, setting: \.store, to: .sqlite(path)) { app in
                var damaged = 0
                for token in tokens {
                    let client = app.client().with(token: token)
                    let shown = try await client.get(Paths.profile)
                    if Self.isDamaged(shown) {
                        damaged += 1
                    } else {
                        #expect(shown[member: "name"] == "Ada")
                        #expect(try await client.patch(Paths.profile, #"{"name":"Bo"}"#).status == 200)
                    }
                }
                #expect(damaged > 0 && damaged < 30)
                let created = try await app.client().send("POST", Paths.sessions)
                let ready = try await app.client().get("/health/ready")
                #expect(created.status == 201 || (ready.status == 503 && ready.text.contains("store repair")))
                let metrics = try await app.admin().get("/metrics").text
                #expect(metrics.contains(/\nconcierge_store_damaged_pages_total [1-9]/))
            }
            #expect(log.lines().contains { $0.contains(#""event":"store""#) && $0.contains("match its checksum") })
        }
    }

    /// Overwrites pages with zeros.
    ///
    /// - Returns: how many.
    private static func zero(_ path: String, where isChosen: ([UInt8]) -> Bool) throws -> Int {
        let file = open(path, O_RDWR)
        try #require(file >= 0)
        defer { close(file) }
        var page = [UInt8](repeating: 0, count: 4_096)
        let zeros = page
        var (place, count) = (4_096, 0)
        while pread(file, &page, page.count, place) == page.count {
            if isChosen(page) {
                #expect(pwrite(file, zeros, zeros.count, place) == zeros.count)
                count += 1
            }
            place += 4_096
        }
        return count
    }
}
