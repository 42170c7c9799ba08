import Configuration
import Glibc
import HTTPServer
import Sessions
import Synchronization

/// The log: one structured line for each event, on standard error.
///
/// ```swift
/// log.write(.info, "listening") { line in
///     line.add("public", "http://127.0.0.1:8080")
/// }
/// // {"time":"2026-01-31T09:05:07.250Z","level":"info","event":"listening","public":"http://127.0.0.1:8080"}
/// ```
///
/// A caller never waits for the reader of the log: lines go to a bounded buffer, which a separate thread writes. Lines
/// that do not fit are dropped, counted in ``droppedLines``, and reported in a line `log_dropped`.
package final class Log: Sendable {
    package typealias Level = Configuration.Log.Level

    /// About ten thousand requests. A reader that is further behind will not catch up soon.
    package static let defaultCapacity = 4 << 20

    private let settings: Configuration.Log
    /// The severity of ``Configuration/Log/level``, which a reload may change.
    private let leastSeverity: Atomic<Int>
    /// Nil when lines do not hash users.
    private let usersKey: UserHashKey?
    private let storeFailures = LogLimit()
    let form: LogForm
    private let sink: LogSink

    /// - Parameters:
    ///   - descriptor: must stay open until the last ``flush(atMost:)`` has returned.
    ///   - capacity: how many bytes of lines may wait to be written.
    package init(
        settings: Configuration.Log, descriptor: Int32 = STDERR_FILENO, capacity: Int = defaultCapacity
    ) {
        self.settings = settings
        leastSeverity = Atomic(settings.level.severity)
        usersKey = settings.users == .hash ? settings.usersKey ?? UserHashKey(random: SystemRandom()) : nil
        form =
            switch settings.format {
            case .json: .json
            case .text: .text
            case .auto: isatty(descriptor) == 1 ? .text : .json
            }
        sink = LogSink(descriptor: descriptor, form: form, capacity: capacity)
        sink.start()
    }

    deinit { sink.stop() }

    /// Whether lines of that level are written.
    package func writes(_ level: Level) -> Bool { level.severity >= leastSeverity.load(ordering: .relaxed) }

    package func setLevel(_ level: Level) { leastSeverity.store(level.severity, ordering: .relaxed) }

    /// Whether a request's line is written. Failures always are.
    func writesRequest(_ level: Level) -> Bool { writes(level) && (settings.requests || level == .error) }

    /// What lines say of a user; nil for nothing.
    package func shown(user: String) -> String? {
        settings.users == .none ? nil : usersKey?.hash(of: user) ?? user
    }

    /// Writes a line, if its level is written.
    /// - Parameter fields: adds members after `time`, `level` and `event`.
    package func write(_ level: Level, _ event: StaticString, _ fields: (inout LogLine) -> Void = { _ in }) {
        guard writes(level) else { return }
        append(level, event, at: LogTime.now(), fields)
    }

    /// Writes a line, whatever the level.
    /// - Parameters:
    ///   - time: in nanoseconds of the monotonic clock.
    ///   - isUrgent: whether it is written at once, as one of a warning or an error is.
    package func append(
        _ level: Level, _ event: StaticString, at time: UInt64, isUrgent: Bool = false,
        _ fields: (inout LogLine) -> Void
    ) {
        var line = LogLine(form, level, event, capacity: 384)
        fields(&line)
        line.end()
        sink.append(line, at: time, urgent: isUrgent || level.isUrgent)
    }

    /// Writes an internal error of a request. Its client gets only the request's id.
    package func failure(request: HTTPRequest, error: any Error) {
        write(.error, "failure") { line in
            line.add("request_id", request.id)
            line.add("route", request.match.route?.pattern.text ?? "-")
            line.add("error", Self.story(of: error))
        }
    }

    /// Writes why the store could not do what a request needed, at most once a second.
    package func storeFailure(_ reason: String) {
        let now = LogTime.now()
        guard writes(.error), let leftOut = storeFailures.admit(at: now) else { return }
        append(.error, "store_failure", at: now) { line in
            line.add("detail", reason)
            if leftOut > 0 { line.add("left_out", leftOut) }
        }
    }

    /// Longer descriptions are cut: an error may describe everything that it was about.
    private static let longestStory = 8192

    private static func story(of error: any Error) -> String {
        let story = String(reflecting: error)
        guard story.utf8.count > longestStory else { return story }
        return String(decoding: story.utf8.prefix(longestStory), as: UTF8.self) + "…"
    }

    /// Waits until every line so far has been written.
    /// - Returns: false when that takes longer than `limit`.
    @discardableResult
    package func flush(atMost limit: Duration = .seconds(5)) -> Bool { sink.flush(atMost: limit) }

    /// How many lines were not written, because the reader was too slow or writing failed.
    package var droppedLines: Int { sink.droppedLines }

    package func write(to metrics: inout OpenMetricsWriter) {
        metrics.counter("concierge_log_lines_dropped", help: "Log lines that were not written.", droppedLines)
    }
}

extension Configuration.Log.Level {
    var severity: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    /// Whether it is written at once, so that it survives the end of the process.
    var isUrgent: Bool { severity >= Self.warning.severity }
}

/// Lets one line a second through, and counts the others: for what fails in every request as long as it lasts.
final class LogLimit: Sendable {
    private struct State {
        /// In nanoseconds of the monotonic clock.
        var next: UInt64 = 0
        var leftOut = 0
    }

    private let state = Mutex(State())

    private static let interval: UInt64 = 1_000_000_000

    /// - Parameter time: in nanoseconds of the monotonic clock.
    /// - Returns: how many lines were left out before this one; nil when it is left out as well.
    func admit(at time: UInt64) -> Int? {
        state.withLock { state in
            guard time >= state.next else {
                state.leftOut += 1
                return nil
            }
            state.next = time + Self.interval
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
