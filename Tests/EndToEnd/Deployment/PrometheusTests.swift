import Configuration
import Foundation
import JSONDocument
import Support
import Testing

/// The alerts and the dashboard, with promtool, and with the metrics of a running server.
@Suite("deploy/prometheus and deploy/grafana")
struct PrometheusTests {
    private static let alerts = "deploy/prometheus/alerts.yaml"
    private static let dashboard = "deploy/grafana/concierge.json"

    /// Runs promtool on copies of the files.
    private static func promtool(
        _ arguments: String, _ change: (_ name: String, _ text: inout String) -> Void = { _, _ in }
    ) async throws -> (status: Int32, output: String) {
        var files: [String: String] = [:]
        let folder = URL(filePath: ShippedFiles.directory).appending(path: "deploy/prometheus")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            var text = try ShippedFiles.text("deploy/prometheus/\(name)")
            change(name, &text)
            files[name] = text
        }
        return try await withFolder(files) { _, folder in
            let output = try await ShellCommand.outputs(
                of: ShellCommand.all(
                    in: "$ promtool \(arguments) >said 2>&1 && echo 0 >status || echo $? >status\n$ cat status said"),
                in: folder, addresses: [:])
            let lines = try #require(output.last).split(separator: "\n", maxSplits: 1)
            return (try #require(Int32(lines[0])), lines.count > 1 ? String(lines[1]) : "")
        }
    }

    /// Each alert with its annotations.
    private static func rules() throws -> [(name: String, text: String)] {
        try ShippedFiles.text(alerts).components(separatedBy: "- alert: ").dropFirst().map {
            (String($0.prefix { $0 != "\n" }), $0)
        }
    }

    @Test("promtool takes the files, and each alert fires where it should and nowhere else")
    func alerts() async throws {
        for arguments in [
            "check config --syntax-only prometheus.yml", "check rules alerts.yaml", "test rules alerts_test.yaml",
        ] {
            let result = try await Self.promtool(arguments)
            #expect(result.status == 0, "\(arguments): \(result.output)")
        }
        let rules = try Self.rules()
        #expect(rules.count >= 10)
        let tests = try ShippedFiles.text("deploy/prometheus/alerts_test.yaml")
        for rule in rules { #expect(tests.contains("alertname: \(rule.name)\n"), "\(rule.name)") }
    }

    @Test("a threshold that is changed fails its test", arguments: ["> 0.01", "< 14 * 86400", "< 0.05", "== 0"])
    func changed(_ threshold: String) async throws {
        let result = try await Self.promtool("test rules alerts_test.yaml") { name, text in
            if name == "alerts.yaml" { text = text.replacing(threshold, with: "> 1e18") }
        }
        #expect(result.status == 1 && result.output.contains("FAILED"))
    }

    @Test("each alert says what is wrong, for whom, and where the manual says what to do")
    func runbooks() throws {
        let manual = try ShippedFiles.text("docs/running.md").split(separator: "\n")
        let headings = Set(manual.filter { $0.hasPrefix("### ") }.map { $0.dropFirst(4).lowercased() })
        let rules = try Self.rules()
        for rule in rules {
            for part in ["severity: ", "summary: \"", "description: \""] {
                #expect(rule.text.contains(part), "\(rule.name)")
            }
            let anchor = try #require(
                rule.text.firstMatch(of: /runbook: "docs\/running\.md#([a-z]+)"/)?.1, "\(rule.name)")
            #expect(anchor == rule.name.lowercased() && headings.contains(String(anchor)))
        }
        #expect(headings.filter { $0.hasPrefix("concierge") }.count == rules.count)
    }

    /// Names of families and samples in an expression, without what functions and labels are called.
    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:concierge|process)_[a-z_]+\b/).map { String($0.output) })
    }

    /// The names of all samples, also of those that a server has only after some time.
    private static func names(ofText text: String) throws -> Set<String> {
        var names: Set<String> = []
        for match in text.matches(of: /# TYPE (\S+) (\S+)/) {
            let suffixes = match.2 == "histogram" ? ["_bucket", "_count", "_sum"] : [""]
            for suffix in suffixes { names.insert(match.1 + suffix) }
        }
        return names
    }

    @Test("every metric that an alert or a panel asks for is one of the server")
    func known() async throws {
        let dashboard = try JSONDocument(parsing: try ShippedFiles.text(Self.dashboard))
        let panels = try #require(dashboard[member: "panels"]?.elements)
        let expressions = panels.flatMap { $0[member: "targets"]?.elements ?? [] }.compactMap { $0[string: "expr"] }
        #expect(expressions.count >= 20)
        let variables = (dashboard[member: "templating"]?[member: "list"]?.elements ?? []).compactMap {
            $0[member: "query"]?[string: "query"]
        }
        #expect(variables.count == 3)
        let asked = Self.names(in: (expressions + variables).joined(separator: "\n"))
            .union(Self.names(in: try Self.rules().map(\.text).joined(separator: "\n")))
        #expect(asked.count >= 30)
        try await withServer { admin in
            let known = try Self.names(ofText: try await admin.get("/metrics").text)
            // Of HTTPS alone.
            #expect(asked.subtracting(known) == ["concierge_certificate_end_timestamp_seconds"])
        }
    }

    private func withServer(_ body: (TestClient) async throws -> Void) async throws {
        try await withFolder([:]) { _, folder in
            try await withApplication(flows: [TestFlows.wizard]) {
                $0.store = .sqlite("\(folder)/sessions.db")
                $0.backup.directory = "\(folder)/backups"
            } _: { app in
                let client = try await app.newSession().client
                try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
                try await client.event("sign_in", #"{"name":"Ada"}"#, on: try await client.start("wizard"))
                try await body(app.admin())
            }
        }
    }

    @Test("promtool takes what a server says without being asked for a format, and has nothing to say about it")
    func text() async throws {
        try await withServer { admin in
            let answer = try await admin.get("/metrics")
            #expect(answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(answer["Vary"]?.contains("Accept") == true)
            try await withFolder(["metrics": answer.text]) { _, folder in
                let said = try await ShellCommand.outputs(
                    of: ShellCommand.all(in: "$ promtool check metrics <metrics 2>&1"), in: folder, addresses: [:])
                #expect(said == [""])
            }
        }
    }

    /// As Prometheus asks.
    static let asksForOpenMetrics =
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"

    @Test(
        "a scraper that prefers OpenMetrics gets it, in its grammar",
        arguments: [
            (asksForOpenMetrics, true), ("application/openmetrics-text", true), ("text/plain", false), ("*/*", false),
            ("application/json", false),
        ])
    func formats(accept: String, isOpen: Bool) async throws {
        try await withServer { admin in
            let answer = try await admin.get("/metrics", fields: [("Accept", accept)])
            #expect(
                answer["Content-Type"]
                    == (isOpen
                        ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                        : "text/plain; version=0.0.4; charset=utf-8"))
            guard isOpen else { return #expect(!answer.text.contains("# EOF")) }
            let metrics = try OpenMetricsText(answer.text)
            #expect(metrics["concierge_ready"] == 1)
            #expect(
                metrics["concierge_transitions_total", ["flow": "wizard", "from": "(start)", "to": "start"]] == 1)
            #expect(try #require(metrics["concierge_store_writes_total"]) >= 4)
            #expect(try #require(metrics["concierge_store_commit_seconds_count"]) >= 4)
            #expect(metrics["concierge_store_disk_full"] == 0)
            let (free, all) = (metrics["concierge_store_disk_free_bytes"], metrics["concierge_store_disk_bytes"])
            #expect(try #require(free) > 0 && #require(free) <= #require(all))
            #expect(try #require(metrics["concierge_store_file_bytes"]) >= 4_096)
        }
    }
}
