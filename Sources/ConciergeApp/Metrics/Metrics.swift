import HTTPServer
import Sessions

/// Counts requests, and renders the counts and the state of the process in the OpenMetrics text format, version 1.0.
///
/// ```swift
/// let metrics = Metrics(listeners: [("public", router.routes), ("admin", adminRouter.routes)], workers: 4)
/// let observer = RequestObserver(log: log, metrics: metrics, listener: 0)
/// let text = metrics.render(sessions: sessions.statistics, connections: [("public", 12), ("admin", 1)])
/// ```
package final class Metrics: Sendable {
    package static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    private let tables: [RequestRowTable]
    /// The rows of all listeners.
    let rows: [RequestRow]
    private let statuses = StatusSlots()
    private let counters: CounterShards
    /// A row's counters: one for each status, one for each bucket of its histogram, and the sum of nanoseconds.
    private let rowSize: Int
    private let startTime = ProcessReadings.startTime()

    /// - Parameter workers: the most workers of a listener.
    package init(listeners: [(name: String, routes: [Route])], workers: Int) {
        var tables: [RequestRowTable] = []
        var rows: [RequestRow] = []
        for listener in listeners {
            let table = RequestRowTable(listener: listener.name, routes: listener.routes, first: rows.count)
            tables.append(table)
            rows += table.rows
        }
        self.tables = tables
        self.rows = rows
        rowSize = statuses.names.count + LatencyBuckets.count + 1
        counters = CounterShards(count: rows.count * rowSize, shards: workers)
    }

    func row(of request: HTTPRequest, listener: Int) -> Int {
        tables[listener].row(of: request.method, on: request.match.route)
    }

    func count(row: Int, worker: Int, status: UInt16, nanoseconds: UInt64) {
        let shard = counters.shard(of: worker)
        let first = row * rowSize
        let buckets = first + statuses.names.count
        counters.add(1, to: first + statuses.slot(of: status), of: shard)
        counters.add(1, to: buckets + LatencyBuckets.index(of: nanoseconds), of: shard)
        counters.add(nanoseconds, to: buckets + LatencyBuckets.count, of: shard)
    }

    /// Connections of a listener that were not served. See `HTTPServer.lostConnections`.
    package typealias LostConnections = (listener: String, evicted: UInt64, refused: UInt64, throttled: UInt64)

    /// The body of `GET /metrics`, of type `contentType`.
    /// - Parameters:
    ///   - connections: open connections of each listener.
    ///   - droppedLogLines: `Log.droppedLines`.
    ///   - refusals: refused requests by quota.
    ///   - problems: responses that were problems, by code.
    ///   - lostConnections: of each listener.
    package func render(
        sessions: SessionStatistics, connections: [(listener: String, count: Int)], droppedLogLines: Int = 0,
        refusals: [(quota: String, count: Int)] = [], problems: [(code: String, count: Int)] = [],
        lostConnections: [LostConnections] = []
    ) -> [UInt8] {
        var writer = OpenMetricsWriter()
        appendRequests(to: &writer)
        writer.gauge(
            "concierge_connections", help: "Open connections.",
            connections.map { ([("listener", $0.listener)], Double($0.count)) })
        for (name, help, number) in [
            ("live", "Sessions in memory.", sessions.live), ("resident", "Sessions in memory.", sessions.live),
            ("stored", "Sessions in the store, including expired ones that are not deleted yet.", sessions.stored),
            ("allowed", "Sessions that may be stored.", sessions.allowed),
        ] {
            writer.gauge("concierge_sessions_\(name)", help: help, [([], Double(number))])
        }
        writer.gauge(
            "concierge_sessions_resident_bytes", unit: "bytes",
            help: "Bytes of the states and labels of the sessions in memory.", [([], Double(sessions.residentBytes))])
        if let bytes = sessions.bytes {
            writer.gauge(
                "concierge_sessions_stored_bytes", unit: "bytes",
                help: "Bytes of the states and labels of all sessions.", [([], Double(bytes.stored))])
            writer.gauge(
                "concierge_sessions_allowed_bytes", unit: "bytes", help: "Bytes that all sessions may have.",
                [([], Double(bytes.allowed))])
        }
        writer.counter("concierge_sessions_started", help: "Sessions created.", Double(sessions.created))
        writer.counter(
            "concierge_sessions_ended",
            help: "Sessions ended for any reason. In a store on disk, an expired session counts when it is deleted.",
            Double(sessions.ended))
        writer.counter(
            "concierge_sessions_shed",
            help: "Sessions ended for new ones at the limit: never used, or idle and without a user.",
            Double(sessions.shed))
        writer.counter(
            "concierge_sessions_stolen", help: "Sessions ended because a replaced token was used.",
            Double(sessions.stolen))
        writer.gauge("concierge_journeys_live", help: "Active journeys.", [([], Double(sessions.journeys))])
        writer.gauge(
            "concierge_watchers", help: "Streams of events, and requests that wait for a change.",
            [([], Double(sessions.watchers))])
        writer.gauge(
            "concierge_services_live", help: "Services in memory, by name.",
            sessions.services.map { ([("service", $0.name)], Double($0.live)) })
        writer.counter(
            "concierge_store_damaged_rows", help: "Damaged rows read.",
            Double(sessions.damage.rows))
        writer.counter(
            "concierge_store_damaged_pages", help: "Damaged pages read.", Double(sessions.damage.pages))
        writer.counter(
            "concierge_log_lines_dropped", help: "Log lines that were not written.", Double(droppedLogLines))
        for (name, help, count) in [
            ("evicted", "Connections closed to make room for others: idle ones, or those of slow clients.", \.evicted),
            ("refused", "Connections beyond the limit of an address.", \.refused),
            ("throttled", "New connections beyond the quota of an address.", \.throttled),
        ] as [(String, String, KeyPath<LostConnections, UInt64>)] {
            writer.family("concierge_connections_\(name)", .counter, help: help)
            for lost in lostConnections {
                writer.sample(
                    "concierge_connections_\(name)_total", [("listener", lost.listener)], Double(lost[keyPath: count]))
            }
        }
        writer.family("concierge_quota_refusals", .counter, help: "Requests beyond a quota.")
        for (quota, count) in refusals {
            writer.sample("concierge_quota_refusals_total", [("quota", quota)], Double(count))
        }
        writer.family("concierge_problems", .counter, help: "Responses that were problems, by their codes.")
        for (code, count) in problems {
            writer.sample("concierge_problems_total", [("code", code)], Double(count))
        }
        writer.family("concierge_build", .info, help: "Version of the server and of libmicrohttpd.")
        writer.sample(
            "concierge_build_info",
            [("version", BuildInformation.version), ("libmicrohttpd", HTTPServer.libraryVersion)], 1)
        appendProcess(to: &writer)
        return writer.finish()
    }

    private func appendRequests(to writer: inout OpenMetricsWriter) {
        writer.family("concierge_http_requests", .counter, help: "Requests answered.")
        for (index, row) in rows.enumerated() {
            for (slot, status) in statuses.names.enumerated() {
                let count = counters.sum(of: index * rowSize + slot)
                // Hundreds of statuses with a count of 0 would only lengthen the text.
                guard count > 0 else { continue }
                writer.sample("concierge_http_requests_total", row.labels + [("status", status)], Double(count))
            }
        }
        writer.family(
            "concierge_http_request_duration_seconds", .histogram, unit: "seconds",
            help: "Time from the start of a request's processing to its response.")
        for (index, row) in rows.enumerated() {
            let first = index * rowSize + statuses.names.count
            let buckets = (0..<LatencyBuckets.count).map { counters.sum(of: first + $0) }
            guard buckets.contains(where: { $0 > 0 }) else { continue }
            writer.histogram(
                "concierge_http_request_duration_seconds", row.labels,
                bounds: LatencyBuckets.bounds.map { Double($0) / 1e9 }, counts: buckets,
                sum: Double(counters.sum(of: first + LatencyBuckets.count)) / 1e9)
        }
    }

    private func appendProcess(to writer: inout OpenMetricsWriter) {
        if let memory = ProcessReadings.residentMemory() {
            writer.gauge(
                "process_resident_memory_bytes", unit: "bytes", help: "Resident memory of the process.",
                [([], Double(memory))])
        }
        writer.gauge(
            "process_start_time_seconds", unit: "seconds", help: "Start time of the process, in seconds since 1970.",
            [([], startTime)])
        writer.counter(
            "process_cpu_seconds", unit: "seconds", help: "Processor time of the process.",
            ProcessReadings.processorTime())
    }
}

extension RequestRow {
    fileprivate var labels: [(String, String)] {
        [("listener", listener), ("method", method), ("route", route)]
    }
}
