import HTTPServer
import Sessions

/// Counts and logs the responses of one listener.
package final class RequestObserver: HTTPServerObserver {
    private let log: Log
    private let metrics: Metrics
    private let listener: Int
    /// The members that the log lines of each row of the metrics share.
    private let labels: [[UInt8]]
    /// For refusals by 503, which come by the thousands while the store is away.
    private let refusals = LogLimit()

    /// - Parameter listener: an index of the listeners that `metrics` was made with.
    package init(log: Log, metrics: Metrics, listener: Int) {
        self.log = log
        self.metrics = metrics
        self.listener = listener
        labels = metrics.rows.map { Self.labels(of: $0, log.form) }
    }

    package var takesRemarks: Bool { log.writesRequest(.info) }

    /// The line has no path, query, field value or body of the request, because those may hold secrets. It names the
    /// session by its id, which grants no access. Remarks of handlers are names that flows, services and problems have,
    /// ids that the server has made, and the user as ``Log/shown(user:)``.
    package func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64) {
        let row = metrics.row(of: request, listener: listener)
        let status = response.status.code
        metrics.count(row: row, worker: request.worker, status: status, nanoseconds: nanoseconds)
        // 501 and 505 are about what the client sent.
        let level: Log.Level = status >= 500 && status != 501 && status != 505 ? .error : .info
        guard log.writesRequest(level) else { return }
        var leftOut = 0
        if status == 503, !log.writesRequest(.info) {
            guard let count = refusals.admit(at: request.receivedAt + nanoseconds) else { return }
            leftOut = count
        }
        // RFC 9110, 9.3.2, 15.3.5 and 15.4.5: these have no body, even if the handler set one.
        let isBodiless = request.method == .head || status == 204 || status == 304
        let count = isBodiless ? 0 : response.body.count
        log.append(level, "request", at: request.receivedAt + nanoseconds) { line in
            line.add("request_id", request.id)
            // For a method that is not possible, the line has the path's pattern. The metrics do not, because such
            // pairs need no rows.
            if status == 405 || request.method == .options, let route = request.match.route {
                let listener = metrics.rows[row].listener
                let row = RequestRow(listener: listener, method: request.method.label, route: route.pattern.text)
                line.add(members: Self.labels(of: row, log.form))
            } else {
                line.add(members: labels[row])
            }
            line.add("status", Int(status))
            line.add("duration_ms", microseconds: nanoseconds / 1_000)
            line.add("bytes", count)
            line.add("client", request.client)
            if let session = request.note { line.add("session_id", "ses_", high: session.high, low: session.low) }
            for remark in request.remarks { line.add(remark.name, bounded: remark.text) }
            if leftOut > 0 { line.add("left_out", leftOut) }
            if let trace = TraceID(request.fields) { line.add("trace_id", "", high: trace.high, low: trace.low) }
        }
    }

    private static func labels(of row: RequestRow, _ form: LogForm) -> [UInt8] {
        LogLine.members(form) { line in
            line.add("method", row.method)
            line.add("route", row.route)
            line.add("listener", row.listener)
        }
    }

    package func failed(_ request: HTTPRequest, _ problem: any Error) {
        log.failure(request: request, error: problem)
    }
}

/// The trace that a request belongs to, from its `traceparent`: W3C Trace Context, section 3.2.
struct TraceID: Sendable, Equatable {
    let high: UInt64
    let low: UInt64

    static let fieldName = HTTPFieldName("traceparent")

    /// `nil` unless there is exactly one field, and it is valid.
    init?(_ fields: HTTPRequestFields) {
        guard fields.count(of: Self.fieldName) == 1, let value = fields.bytes(of: Self.fieldName) else { return nil }
        self.init(traceparent: value)
    }

    /// Reads `00-<32 digits>-<16 digits>-<2 digits>`, digits in lower case; later versions may go on after a dash.
    init?(traceparent: ArraySlice<UInt8>) {
        let text = Array(traceparent)
        let dash = UInt8(ascii: "-")
        guard text.count >= 55, text[2] == dash, text[35] == dash, text[52] == dash,
            let version = Hexadecimal.word(text[0..<2]), version != 0xFF,
            text.count == 55 || (version != 0 && text[55] == dash),
            let high = Hexadecimal.word(text[3..<19]), let low = Hexadecimal.word(text[19..<35]), high | low != 0,
            let parent = Hexadecimal.word(text[36..<52]), parent != 0, Hexadecimal.word(text[53..<55]) != nil
        else { return nil }
        self.high = high
        self.low = low
    }
}
