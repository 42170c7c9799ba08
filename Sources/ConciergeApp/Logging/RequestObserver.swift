import HTTPServer
import Sessions

/// Counts and logs the answers of one listener.
package final class RequestObserver: HTTPServerObserver {
    private let log: Log
    private let metrics: Metrics
    private let listener: Int
    /// For every row of the metrics.
    private let labels: [RequestLabels]

    /// - Parameter listener: which of those that `metrics` was made with.
    package init(log: Log, metrics: Metrics, listener: Int) {
        self.log = log
        self.metrics = metrics
        self.listener = listener
        labels = metrics.rows.map(RequestLabels.init)
    }

    package func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64) {
        let row = metrics.row(of: request, listener: listener)
        let status = response.status.code
        metrics.count(row: row, worker: request.worker, status: status, nanoseconds: nanoseconds)
        guard log.writesRequest(.ofRequest(status: status)) else { return }
        // RFC 9110, 9.3.2, 15.3.5 and 15.4.5: these have no body, whatever the handler gave.
        let isBare = request.method == .head || status == 204 || status == 304
        log.request(
            RequestLine(
                status: status, microseconds: nanoseconds / 1_000, bytes: isBare ? 0 : response.body.count,
                sessionID: request.note.map(SessionID.init), traceID: TraceID(request.fields)),
            id: request.id, labels: labels[row], at: request.receivedAt + nanoseconds)
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
