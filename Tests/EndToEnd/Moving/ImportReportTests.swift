import Configuration
import HTTPTestClient
import JSONDocument
import RedisStorage
import RedisTestServer
import Support
import Testing

/// The numbers of a report, compared with what was sent. Once they were wrong in optimised code alone.
@Suite("The report of an import")
struct ImportReportTests {
    enum Place: String, CaseIterable, Sendable { case memory, sqlite, redis }

    /// Around the ends of the groups of 128 sessions that are committed together.
    private static let sizes = [1, 2, 3, 7, 127, 128, 129, 255, 256, 257, 300, 1_000]

    /// A program with an empty store.
    private static func withServer(
        _ place: Place, maxSessions: Int? = nil, _ body: (TestClient) async throws -> Void
    ) async throws {
        // Ends with this function.
        let redis = place == .redis ? try RedisTestServer(isInMemory: true) : nil
        try await withFolder([:]) { _, folder in
            let store: Configuration.Store =
                switch place {
                case .memory: .memory
                case .sqlite: .sqlite("\(folder)/sessions.db")
                case .redis: .redis(try RedisAddress("redis://127.0.0.1:\(try #require(redis).port)"))
                }
            try await withApplication {
                $0.store = store
                if let maxSessions { $0.maxSessions = maxSessions }
            } _: { app in
                try await body(app.admin())
            }
        }
    }

    private struct Report: Equatable {
        var status = 200
        var imported = 0
        var replaced = 0
        var skipped = 0
        var expired = 0
        var refused = 0
        var isComplete = true
        var last: String?
        var errors = 0

        /// Nil for a response without all of these.
        init?(_ response: TestResponse) throws {
            status = response.status
            let json = try response.json
            let report = json[member: "report"] ?? json
            func number(_ name: String) -> Int? { report[member: name]?.int }
            guard let read = number("read"), let imported = number("imported"), let replaced = number("replaced"),
                let skipped = number("skipped"), let expired = number("expired"), let refused = number("refused"),
                let complete = report[member: "complete"]?.bool, let errors = report[member: "errors"]?.elements,
                let more = number("more_errors"), read == imported + skipped + refused
            else { return nil }
            (self.imported, self.replaced, self.skipped) = (imported, replaced, skipped)
            (self.expired, self.refused, isComplete) = (expired, refused, complete)
            self.errors = errors.count + more
            last = report[string: "last"]
        }

        init() {}
    }

    private static func send(_ lines: [UInt8], to admin: TestClient, _ query: String = "") async throws -> Report? {
        try Report(
            try await admin.send(
                "POST", "/v1/imports" + query, json: String(decoding: lines, as: UTF8.self),
                fields: [("Content-Type", "application/x-ndjson")]))
    }

    @Test(
        "counts each session once: new ones, those that are there, and those that are replaced",
        arguments: Place.allCases)
    func counts(place: Place) async throws {
        for size in Self.sizes {
            var archive = TestArchive()
            let lines = archive.header + (1...size).flatMap { archive.session($0) } + archive.end
            var wanted = Report()
            wanted.last = TestArchive.cursor(size)
            try await Self.withServer(place) { admin in
                wanted.imported = size
                let tried = try await Self.send(lines, to: admin, "?dry_run=true")
                #expect(tried == wanted, "\(size), tried")
                let report = try await Self.send(lines, to: admin)
                #expect(report == wanted, "\(size)")
                wanted.replaced = size
                let replaced = try await Self.send(lines, to: admin, "?on_conflict=replace")
                #expect(replaced == wanted, "\(size), replaced")
                (wanted.imported, wanted.replaced, wanted.skipped) = (0, 0, size)
                let again = try await Self.send(lines, to: admin)
                #expect(again == wanted, "\(size), again")
            }
        }
    }

    @Test("has the lines that are damaged, expired or come twice among the others", arguments: Place.allCases)
    func mixed(place: Place) async throws {
        for size in Self.sizes {
            var archive = TestArchive()
            var wanted = Report()
            var lines = archive.header
            for number in 1...size {
                let (isDamaged, isExpired) = (number % 5 == 2, number % 7 == 3)
                lines += archive.session(number, isExpired: isExpired, isDamaged: isDamaged)
                if isDamaged {
                    (wanted.refused, wanted.errors) = (wanted.refused + 1, wanted.errors + 1)
                    wanted.isComplete = false
                    continue
                }
                wanted.last = TestArchive.cursor(number)
                if isExpired {
                    (wanted.skipped, wanted.expired) = (wanted.skipped + 1, wanted.expired + 1)
                    continue
                }
                wanted.imported += 1
                guard number % 11 == 0 else { continue }
                lines += archive.session(number)
                wanted.skipped += 1
            }
            lines += archive.end
            try await Self.withServer(place) { admin in
                let report = try await Self.send(lines, to: admin)
                #expect(report == wanted, "\(size)")
            }
        }
    }

    @Test("counts what is stored when there is no room for more", arguments: Place.allCases)
    func full(place: Place) async throws {
        for (size, room) in [(2, 1), (129, 128), (300, 140), (1_000, 257)] {
            var archive = TestArchive()
            let lines = archive.header + (1...size).flatMap { archive.session($0) } + archive.end
            try await Self.withServer(place, maxSessions: room) { admin in
                let report = try #require(try await Self.send(lines, to: admin))
                #expect(report.status == 503 && report.imported == room && report.skipped == 0 && !report.isComplete)
                var here: [JSONDocument] = []
                var next: String? = "/v1/sessions?limit=100"
                while let path = next {
                    let page = try await admin.get(path)
                    here += page.items
                    next = page[member: "next"]?.string.map { "/v1/sessions?limit=100&cursor=\($0)" }
                }
                #expect(here.count == room, "\(size) into \(room)")
            }
        }
    }
}
