import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import Operations
import Sessions
import Support
import Testing

@Suite("Requests in the log")
struct LoggingRequestTests {
    private static let session = SessionID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private struct Broken: Error, CustomDebugStringConvertible {
        let debugDescription = "broken:\nthe second line"
    }

    private struct Renderer: HTTPErrorRenderer {
        let log: Log
        func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
            if let error = error as? HTTPError { return HTTPResponse(error.status, text: error.detail) }
            log.failure(request: request, error: error)
            return HTTPResponse(.internalServerError, text: "broken")
        }
    }

    /// Sends requests to a server that logs and counts.
    private func lines(
        _ settings: Configuration.Log = Configuration().log, of requests: [String],
        metrics: (String) throws -> Void = { _ in }
    ) async throws -> [String] {
        let file = try LogFile(settings)
        var builder = RouterBuilder()
        builder.on(.get, "/things/{thing}") { _ in HTTPResponse(text: "hello") }
        builder.on(.post, "/mine") { request in
            request.note = HTTPRequest.Note(high: Self.session.high, low: Self.session.low)
            return HTTPResponse(.noContent)
        }
        builder.on(.post, "/broken") { _ in throw Broken() }
        builder.on(.post, "/remarked") { request in
            request.remark("thing", "first")
            request.remark("thing", String(repeating: "x", count: 300))
            request.remark("reason", "known", isForced: true)
            return HTTPResponse(.internalServerError)
        }
        builder.on(.post, "/unsendable") { _ in HTTPResponse(fields: [.location: "a\nb"]) }
        let router = try builder.freeze()
        var configuration = HTTPServerConfiguration()
        configuration.workers = 1
        let counters = Metrics(listeners: [("admin", []), ("public", router.routes)], workers: 1)
        let server = try HTTPServer(
            router: router, configuration: configuration, errors: Renderer(log: file.log),
            observer: RequestObserver(log: file.log, metrics: counters, listener: 1))
        let port = server.port
        let sent = await Result {
            try await blocking {
                for request in requests {
                    let connection = try RawConnection(port: port)
                    try connection.send(request)
                    _ = try connection.readResponse(isBodiless: request.hasPrefix("HEAD"))
                }
            }
        }
        await server.stop(timeout: .seconds(10))
        try sent.get()
        try metrics(String(decoding: counters.render(.openMetrics, with: []), as: UTF8.self))
        return file.lines()
    }

    private static func head(_ line: String, _ fields: String...) -> String {
        "\(line) HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    @Test("A line says who asked for what and what came of it, and nothing that could be secret")
    func fields() async throws {
        let lines = try await lines(of: [
            Self.head(
                "GET /things/s3cret?token=s3cret", "Request-Id: my-id.1", "Authorization: Bearer s3cret",
                "Cookie: a=s3cret", "traceparent: 00-\(Self.trace)-00f067aa0ba902b7-01"),
            Self.head("HEAD /things/1"), Self.head("POST /mine"), Self.head("GET /s3cret"),
            Self.head("S3CRET /mine"), Self.head("POST /broken"),
        ])
        #expect(!lines.contains { $0.lowercased().contains("s3cret") })
        let documents = try lines.map { try JSONDocument(parsing: $0) }
        let always: Set = [
            "time", "level", "event", "request_id", "method", "route", "listener", "status", "duration_ms", "bytes",
            "client",
        ]
        let requests = documents.filter { $0[member: "event"] == "request" }
        #expect(
            requests.map(\.names) == [
                always.union(["trace_id"]), always, always.union(["session_id"]), always, always, always,
            ])
        func values(_ name: String) -> [JSONDocument] { requests.compactMap { $0[member: name] } }
        #expect(values("method") == ["GET", "HEAD", "POST", "GET", "_OTHER", "POST"])
        #expect(values("route") == ["/things/{thing}", "/things/{thing}", "/mine", "-", "/mine", "/broken"])
        #expect(values("status") == [200, 200, 204, 404, 405, 500])
        #expect(values("level") == ["info", "info", "info", "info", "info", "error"])
        #expect(values("bytes").prefix(3) == [5, 0, 0])
        #expect(values("listener").allSatisfy { $0 == "public" })
        #expect(values("duration_ms").allSatisfy { $0.double.map { $0 >= 0 && $0 < 10_000 } == true })
        #expect(values("request_id").first == "my-id.1")
        #expect(values("session_id") == [JSONDocument(Self.session.description)])
        #expect(values("trace_id") == [JSONDocument(Self.trace)])
    }

    @Test("A failure has a line with the request's id and its story", arguments: ["/broken", "/unsendable"])
    func failures(_ path: String) async throws {
        let documents = try await lines(of: [Self.head("POST \(path)", "Request-Id: failing")])
            .map { try JSONDocument(parsing: $0) }
        let failure = try #require(documents.first { $0[member: "event"] == "failure" })
        #expect(failure.names == ["time", "level", "event", "request_id", "route", "error"])
        #expect(failure[member: "level"] == "error")
        #expect(failure[member: "request_id"] == "failing")
        #expect(failure[member: "route"] == JSONDocument(path))
        if path == "/broken" { #expect(failure[member: "error"] == "broken:\nthe second line") }
    }

    @Test("Requests can be left out of the log, but not those that failed")
    func withoutRequests() async throws {
        var settings = Configuration().log
        settings.requests = false
        let documents = try await lines(settings, of: [Self.head("GET /things/1"), Self.head("POST /broken")])
            .map { try JSONDocument(parsing: $0) }
        #expect(documents.map { $0[member: "event"] } == ["failure", "request"])
    }

    @Test("Remarks of a handler are on the line, the last of each name, and their beginning if they are long")
    func remarks() async throws {
        let lines = try await lines(of: [Self.head("POST /remarked")]).map { try JSONDocument(parsing: $0) }
        #expect(lines.map { $0[member: "thing"]?.string } == [String(repeating: "x", count: 256) + "…"])
        #expect(lines.map { $0[member: "reason"]?.string } == ["known"])
        // Where requests have no lines, nothing is kept but what a failure needs.
        var settings = Configuration().log
        settings.requests = false
        let failures = try await self.lines(settings, of: [Self.head("POST /remarked")])
            .map { try JSONDocument(parsing: $0) }
        #expect(failures.map { $0[member: "thing"]?.string } == [nil])
        #expect(failures.map { $0[member: "reason"]?.string } == ["known"])
    }

    @Test("On a terminal the line of a request is text")
    func text() async throws {
        var settings = Configuration().log
        settings.format = .text
        let lines = try await lines(settings, of: [Self.head("POST /mine", "Request-Id: me")])
        let expected =
            /\d\d:\d\d:\d\d\.\d{3} info request request_id=me method=POST route=\/mine listener=public status=204 duration_ms=\d+\.\d{3} bytes=0 client=127\.0\.0\.1 session_id=ses_0123456789abcdeffedcba9876543210/
        #expect(lines.first?.wholeMatch(of: expected) != nil, "\(lines)")
    }

    @Test(
        "A trace that is not one of W3C Trace Context is none",
        arguments: [
            ("00-\(trace)-00f067aa0ba902b7-01", true), ("00-\(trace)-00f067aa0ba902b7-00", true),
            ("01-\(trace)-00f067aa0ba902b7-01-more", true), ("01-\(trace)-00f067aa0ba902b7-01more", false),
            ("00-\(trace)-00f067aa0ba902b7-01-more", false), ("ff-\(trace)-00f067aa0ba902b7-01", false),
            ("00-\(trace.uppercased())-00f067aa0ba902b7-01", false), ("00-\(trace)-00f067aa0ba902b7-0", false),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
            ("00-\(trace)-0000000000000000-01", false), ("\"}\\", false),
        ])
    func traces(_ value: String, _ isValid: Bool) async throws {
        let lines = try await lines(of: [Self.head("GET /things/1", "traceparent: \(value)")])
        #expect(try JSONDocument(parsing: lines[0])[member: "trace_id"]?.string == (isValid ? Self.trace : nil))
    }

    @Test("Requests are counted by route, method and status")
    func counting() async throws {
        let requests = [
            Self.head("GET /things/1"), Self.head("GET /things/2"), Self.head("HEAD /things/2"),
            Self.head("GET /none"), Self.head("S3CRET /mine"), Self.head("POST /broken"),
        ]
        _ = try await lines(of: requests) { text in
            let metrics = try OpenMetricsText(text)
            func count(_ method: String, _ route: String, _ status: String) -> Double? {
                metrics[
                    "concierge_http_requests_total",
                    ["listener": "public", "method": method, "route": route, "status": status]]
            }
            #expect(count("GET", "/things/{thing}", "200") == 2)
            #expect(count("HEAD", "/things/{thing}", "200") == 1)
            #expect(count("GET", "-", "404") == 1)
            #expect(count("_OTHER", "-", "405") == 1)
            #expect(count("POST", "/broken", "500") == 1)
            #expect(metrics.samples.count { $0.name == "concierge_http_requests_total" } == 5)
            #expect(
                metrics[
                    "concierge_http_request_duration_seconds_count",
                    ["listener": "public", "method": "GET", "route": "/things/{thing}"]] == 2)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
