import HTTPServer
import Sessions

/// Counts and logs the answers of one listener.
package final class RequestObserver: HTTPServerObserver {
    private let log: Log
    private let metrics: Metrics
    private let listener: Int
    private let labels: RequestLabelTable

    /// - Parameter listener: which of those that `metrics` was made with.
    package init(log: Log, metrics: Metrics, listener: Int) {
        self.log = log
        self.metrics = metrics
        self.listener = listener
        labels = RequestLabelTable(metrics.rows)
    }

    package func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64) {
        let row = metrics.row(of: request, listener: listener)
        let status = response.status.code
        metrics.count(row: row, worker: request.worker, status: status, nanoseconds: nanoseconds)
        guard log.writesRequest(.ofRequest(status: status)) else { return }
        // RFC 9110, 9.3.2, 15.3.5 and 15.4.5: these have no body, whatever the handler gave.
        let isBare = request.method == .head || status == 204 || status == 304
        let line = RequestLine(
            status: status, microseconds: nanoseconds / 1_000, bytes: isBare ? 0 : response.body.count,
            sessionID: request.note.map(SessionID.init), traceID: TraceID(request.fields))
        let time = request.receivedAt + nanoseconds
        // Of a method that is not possible on its path the log tells the path's pattern; the metrics do not, since
        // nobody needs rows for all such pairs.
        if status == 405 || request.method == .options, let route = request.match.route {
            RequestLabels(
                of: RequestRow(
                    listener: metrics.rows[row].listener, method: request.method.label, route: route.pattern.text)
            ).bytes.withUnsafeBytes { log.request(line, id: request.id, labels: $0, at: time) }
        } else {
            labels.lend(row) { log.request(line, id: request.id, labels: $0, at: time) }
        }
    }

    package func failed(_ request: HTTPRequest, _ problem: any Error) {
        log.failure(request: request, error: problem)
    }
}

extension SessionID {
    /// Endpoints note whose request it is.
    fileprivate init(_ note: HTTPRequest.Note) { self.init(high: note.high, low: note.low) }
}

extension HTTPRequest {
    /// Notes whose request it is, for the log.
    func note(_ session: SessionID) { note = Note(high: session.high, low: session.low) }
}
