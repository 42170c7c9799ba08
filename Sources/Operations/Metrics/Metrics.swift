import Glibc
import HTTPServer

/// Counts requests, and renders the counts and the state of the process.
///
/// ```swift
/// let metrics = Metrics(listeners: [("public", router.routes), ("admin", adminRouter.routes)], workers: 4)
/// let observer = RequestObserver(log: log, metrics: metrics, listener: 0)
/// let text = metrics.render(.openMetrics, with: [{ sessions.statistics.write(to: &$0) }])
/// ```
package final class Metrics: Sendable {
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

    /// Writes the families of a part of the program. A new metric is a line where its part writes the others.
    package typealias Part = @Sendable (inout OpenMetricsWriter) -> Void

    /// The body of `GET /metrics`.
    package func render(_ format: MetricsFormat, with parts: [Part]) -> [UInt8] {
        var writer = OpenMetricsWriter(format)
        appendRequests(to: &writer)
        for write in parts { write(&writer) }
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
        writer.family("concierge_build", .info, help: "Version of the server and of libmicrohttpd.")
        writer.sample(
            "concierge_build_info",
            [("version", BuildInformation.version), ("libmicrohttpd", HTTPServer.libraryVersion)], 1)
        if let memory = ProcessReadings.residentMemory() {
            writer.gauge(
                "process_resident_memory_bytes", unit: "bytes", help: "Resident memory of the process.", memory)
        }
        if let descriptors = ProcessReadings.descriptors() {
            writer.gauge("process_open_fds", help: "Open file descriptors.", descriptors.open)
            writer.gauge("process_max_fds", help: "The most that the process may open.", descriptors.most)
        }
        writer.family(
            "process_start_time_seconds", .gauge, unit: "seconds",
            help: "Start time of the process, in seconds since 1970.")
        writer.sample("process_start_time_seconds", [], startTime)
        writer.family(
            "process_cpu_seconds", .counter, unit: "seconds", help: "Processor time of the process.")
        writer.sample("process_cpu_seconds_total", [], ProcessReadings.processorTime())
    }
}

extension RequestRow {
    fileprivate var labels: [(String, String)] {
        [("listener", listener), ("method", method), ("route", route)]
    }
}

/// Values that the kernel reports about this process.
enum ProcessReadings {
    /// In bytes; `nil` without `/proc`.
    static func residentMemory() -> Int? {
        // proc(5): the sizes are in pages; total, resident, and more.
        let fields = read("/proc/self/statm").split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The open descriptors and their limit; `nil` without `/proc`.
    static func descriptors() -> (open: Int, most: Int)? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            let folder = opendir("/proc/self/fd")
        else { return nil }
        defer { closedir(folder) }
        // That of the folder, and its two entries that are none.
        var open = -3
        while readdir(folder) != nil { open += 1 }
        return (open, Int(clamping: limit.rlim_cur))
    }

    /// Seconds of all threads.
    static func processorTime() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// In seconds since 1970; now without `/proc`.
    static func startTime() -> Double {
        let now = seconds(CLOCK_REALTIME)
        // proc(5): the second field, a name in brackets, may hold spaces; the 22nd counts ticks since
        // the machine booted.
        let stat = read("/proc/self/stat")
        guard let bracket = stat.lastIndex(of: UInt8(ascii: ")")) else { return now }
        let fields = stat[bracket...].split(separator: UInt8(ascii: " "))
        guard fields.count > 20, let ticks = Double(String(decoding: fields[20], as: UTF8.self)) else { return now }
        let age = seconds(CLOCK_BOOTTIME) - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        return now - max(0, age)
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The beginning of a file, at most a page.
    private static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
    }
}
