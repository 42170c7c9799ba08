import Glibc
import JSONDocument

/// One structured line for each thing that happened, on standard error.
///
/// ```swift
/// log.write(.info, "listening") { line in
///     line.name("public")
///     line.string("http://127.0.0.1:8080")
/// }
/// // {"time":"2026-01-31T09:05:07.250Z","level":"info","event":"listening","public":"http://127.0.0.1:8080"}
/// ```
///
/// Nothing here waits for whoever reads the lines: they go to a bounded buffer that a thread of its own empties.
/// Lines that do not fit are dropped, counted in ``droppedLines``, and told of in a line `log_dropped`.
package final class Log: Sendable {
    package typealias Level = Configuration.Log.Level

    /// Some ten thousand requests: a reader that is behind by more than that will not catch up soon.
    package static let defaultCapacity = 4 << 20

    private let settings: Configuration.Log
    let form: LogForm
    let sink: LogSink

    /// - Parameters:
    ///   - descriptor: must stay open until the last ``flush(atMost:)`` has returned.
    ///   - capacity: how many bytes of lines may wait to be written.
    package init(
        settings: Configuration.Log, descriptor: Int32 = STDERR_FILENO, capacity: Int = defaultCapacity
    ) {
        self.settings = settings
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

    /// Whether a line of that level is written at all.
    package func writes(_ level: Level) -> Bool { level.severity >= settings.level.severity }

    /// Whether a request's line is written: those of failures always are.
    func writesRequest(_ level: Level) -> Bool { writes(level) && (settings.requests || level == .error) }

    /// Writes a line, if the level is one that is written.
    /// - Parameter fields: adds members after `time`, `level` and `event`: names and values in turn.
    package func write(_ level: Level, _ event: String, _ fields: (inout JSONWriter) -> Void = { _ in }) {
        guard writes(level) else { return }
        var line = JSONWriter()
        line.beginObject()
        line.name("level")
        line.string(level.rawValue)
        line.name("event")
        line.string(event)
        fields(&line)
        line.endObject()
        form.body(of: line.bytes).withUnsafeBytes {
            sink.append($0, at: LogTime.now(), urgent: level.isUrgent)
        }
    }

    /// Waits until every line of before has been written.
    /// - Returns: false when that took longer than `limit`: nobody reads.
    @discardableResult
    package func flush(atMost limit: Duration = .seconds(5)) -> Bool { sink.flush(atMost: limit) }

    /// How many lines nobody will see: no room while the reader was slow, or an error in writing.
    package var droppedLines: Int { sink.droppedLines }
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

    /// Whether it is written at once, lest it be lost with the process.
    var isUrgent: Bool { severity >= Self.warning.severity }
}
