import HTTPServer
import HTTPTestClient
import Support
import Testing

@testable import ConciergeApp
@testable import Operations
@testable import Sessions

@Suite("Metrics")
struct MetricsTests {
    private static func routes() throws -> [Route] {
        var builder = RouterBuilder()
        builder.on(.get, "/a/{b}") { _ in HTTPResponse() }
        builder.on(.delete, "/a/{b}") { _ in HTTPResponse() }
        builder.on(.get, "/quote\"back\\slash") { _ in HTTPResponse() }
        return try builder.freeze().routes
    }

    private static func text(_ metrics: Metrics, sessions: SessionStatistics = .none) throws -> OpenMetricsText {
        let text = metrics.render(
            .openMetrics,
            with: [
                { sessions.write(to: &$0) },
                { $0.gauge("depth", help: "Of each.", by: "queue", [("a", 12), ("b", 1)]) },
                { $0.counter("drops", help: "All.", 7) },
            ])
        return try OpenMetricsText(String(decoding: text, as: UTF8.self))
    }

    @Test("What the process and its parts know of themselves is there, typed and with its unit")
    func process() throws {
        let text = try Self.text(Metrics(listeners: [("public", [])], workers: 1))
        #expect(text["depth", ["queue": "a"]] == 12)
        #expect(text["depth", ["queue": "b"]] == 1)
        #expect(text["drops_total"] == 7)
        #expect(try #require(text["process_resident_memory_bytes"]) > 1_000_000)
        #expect(try #require(text["process_cpu_seconds_total"]) > 0)
        #expect(text.families.allSatisfy { $0.help != nil })
        let units = text.families.compactMap { family in family.unit.map { "\(family.name) \($0)" } }
        #expect(units.contains("process_start_time_seconds seconds"))
        let build = try #require(text.samples.first { $0.name == "concierge_build_info" })
        #expect(build.value == 1)
        #expect(build.labels["version"] == BuildInformation.version)
    }

    @Test(
        "In the older format families of counters are called as their samples, nothing has a unit, and no line is an end"
    )
    func olderFormat() {
        let metrics = Metrics(listeners: [("public", [])], workers: 1)
        let text = String(
            decoding: metrics.render(
                .text, with: [{ $0.counter("drops", help: #"All "of" them\."#, by: "a", [(#"b"\"#, 7)]) }]),
            as: UTF8.self)
        let lines = text.split(separator: "\n")
        #expect(lines.contains("# TYPE drops_total counter"))
        #expect(lines.contains(##"# HELP drops_total All "of" them\\."##))
        #expect(lines.contains(##"drops_total{a="b\"\\"} 7"##))
        #expect(lines.contains("# TYPE concierge_build_info gauge"))
        #expect(lines.contains("# TYPE process_resident_memory_bytes gauge"))
        #expect(!text.contains("# UNIT") && !text.contains("EOF"))
    }

    @Test("The descriptors of the process are counted")
    func descriptors() throws {
        func open() throws -> Double { try #require(Self.text(Metrics(listeners: [], workers: 1))["process_open_fds"]) }
        #expect(try open() >= 3)
        #expect(try #require(Self.text(Metrics(listeners: [], workers: 1))["process_max_fds"]) >= open())
    }

    @Test("Sessions and services are what the statistics say")
    func sessions() throws {
        var statistics = SessionStatistics.of(
            live: 3, stored: 20, allowed: 30, created: 10, ended: 7, services: [("a", 2), ("b\"\n\\", 0)])
        statistics.damage = StoreDamage(rows: 4, pages: 5)
        let text = try Self.text(Metrics(listeners: [], workers: 1), sessions: statistics)
        #expect(text["concierge_sessions_resident"] == 3)
        #expect(text["concierge_sessions_stored"] == 20)
        #expect(text["concierge_sessions_allowed"] == 30)
        #expect(text["concierge_sessions_started_total"] == 10)
        #expect(text["concierge_sessions_ended_total"] == 7)
        #expect(text["concierge_store_damaged_rows_total"] == 4)
        #expect(text["concierge_store_damaged_pages_total"] == 5)
        #expect(text["concierge_services_live", ["service": "a"]] == 2)
        #expect(text["concierge_services_live", ["service": "b\"\n\\"]] == 0)
    }

    @Test("Every answer is in one bucket, the first that is not below it, and in all above")
    func histogram() throws {
        let metrics = Metrics(listeners: [("public", try Self.routes())], workers: 2)
        let row = try #require(metrics.rows.firstIndex { $0.method == "DELETE" && $0.route == "/a/{b}" })
        let times: [UInt64] = [0, 50_000, 50_001, 1_000_000, 1_000_001, 10_000_000_000, 10_000_000_001, .max >> 8]
        for (worker, time) in times.enumerated() {
            metrics.count(row: row, worker: worker % 2, status: 200, nanoseconds: time)
        }
        let text = try Self.text(metrics)
        let labels = ["listener": "public", "method": "DELETE", "route": "/a/{b}"]
        let family = "concierge_http_request_duration_seconds"
        for (bound, expected) in [
            ("5e-05", 2.0), ("0.0001", 3), ("0.0005", 3), ("0.001", 4), ("0.0025", 5), ("5.0", 5), ("10.0", 6),
            ("+Inf", 8),
        ] {
            let found = text[family + "_bucket", labels.merging(["le": bound]) { $1 }]
            #expect(found == expected, "le \(bound)")
        }
        #expect(text[family + "_count", labels] == 8)
        #expect(text.samples.count { $0.name == family + "_bucket" } == LatencyBuckets.count)
    }

    @Test("The bounds that are searched are those that are shown")
    func bounds() {
        for (index, bound) in LatencyBuckets.bounds.enumerated() {
            #expect(LatencyBuckets.index(of: bound) == index)
            #expect(LatencyBuckets.index(of: bound + 1) == index + 1)
        }
        #expect(LatencyBuckets.count == LatencyBuckets.bounds.count + 1)
    }

    @Test(
        "A status is counted by its code, or with its class",
        arguments: [(200, "200"), (404, "404"), (418, "4xx"), (599, "5xx"), (101, "1xx"), (299, "2xx"), (0, "5xx")])
    func statuses(_ code: UInt16, _ name: String) throws {
        let metrics = Metrics(listeners: [("x", [])], workers: 1)
        metrics.count(row: 0, worker: 0, status: code, nanoseconds: 1)
        let text = try Self.text(metrics)
        #expect(text.samples.filter { $0.name == "concierge_http_requests_total" }.map(\.labels["status"]) == [name])
    }

    @Test("Labels are escaped, and what was never asked for is not shown")
    func labels() throws {
        let metrics = Metrics(listeners: [("public", try Self.routes()), ("admin", [])], workers: 1)
        let row = try #require(metrics.rows.firstIndex { $0.route.contains("quote") })
        metrics.count(row: row, worker: 0, status: 200, nanoseconds: 1)
        let requests = try Self.text(metrics).samples.filter { $0.name == "concierge_http_requests_total" }
        #expect(requests.map(\.labels["route"]) == ["/quote\"back\\slash"])
    }

    @Test("Nothing is lost when all workers count at once, while somebody looks")
    func threads() async throws {
        let metrics = Metrics(listeners: [("public", try Self.routes())], workers: 6)
        let perThread = 20_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    try await blocking {
                        for index in 0..<perThread {
                            metrics.count(row: 0, worker: worker, status: 200, nanoseconds: UInt64(index) * 1_000)
                        }
                    }
                }
            }
            for _ in 0..<20 { _ = try Self.text(metrics) }
            try await group.waitForAll()
        }
        let labels = ["listener": "public", "method": "GET", "route": "/a/{b}"]
        let text = try Self.text(metrics)
        #expect(
            text["concierge_http_requests_total", labels.merging(["status": "200"]) { $1 }]
                == Double(6 * perThread))
        #expect(text["concierge_http_request_duration_seconds_count", labels] == Double(6 * perThread))
    }
}

extension SessionStatistics {
    static var none: Self { of(live: 0, created: 0, ended: 0, services: []) }

    static func of(
        live: Int, stored: Int = 0, allowed: Int = 0, created: Int, ended: Int, services: [(String, Int)]
    ) -> Self {
        SessionStatistics(
            live: live, stored: stored, allowed: allowed, created: created, ended: ended, watchers: 0,
            services: services.map { .init(name: $0.0, live: $0.1) })
    }
}
