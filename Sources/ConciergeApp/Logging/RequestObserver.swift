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
        let isAboutMethods = status == 405 || request.method == .options
        let labels = isAboutMethods ? labels(of: request, row: row) : labels[row]
        log.request(
            RequestLine(
                status: status, microseconds: nanoseconds / 1_000, bytes: isBare ? 0 : response.body.count,
                sessionID: request.note.map(SessionID.init), traceID: TraceID(request.fields)),
            id: request.id, labels: labels, at: request.receivedAt + nanoseconds)
    }

    /// Of a method that is not possible on its path the log tells the path's pattern; the metrics do not, since nobody
    /// needs rows for all such pairs.
    private func labels(of request: HTTPRequest, row: Int) -> RequestLabels {
        guard let route = request.match.route else { return labels[row] }
        return RequestLabels(
            of: RequestRow(
                listener: metrics.rows[row].listener, method: request.method.label, route: route.pattern.text))
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
