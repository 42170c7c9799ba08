import Configuration
import Glibc
import HTTPServer
import Synchronization

/// The audit lines: who changed or read what through the admin listener, and who tried to. Every such line is written
/// here, whatever the level of the log.
///
/// They go to the log, or to a file of their own. It is appended to, so it may be truncated at any time (`copytruncate`
/// of logrotate), and ``reopen()`` goes on in a new file of its path after the former one was renamed.
package final class AuditLog: Sendable {
    /// Decides how users are shown, and says what could not be written.
    private let log: Log
    /// Nil when the lines go to the log.
    private let file: AuditFile?
    /// Lines that did not reach the file and that the log has told of.
    private let told = Atomic(0)

    /// - Throws: ``AuditFileError`` when the file cannot be opened.
    package init(_ settings: Configuration.Log, log: Log) throws(AuditFileError) {
        self.log = log
        file = if case .file(let path) = settings.audit { try AuditFile(path) } else { nil }
    }

    /// Writes a line about a request.
    ///
    /// It has the addresses, the route, and what the path and the query name: session, user, service, and the id of a
    /// journey or a task. It has nothing of what was read or written.
    ///
    /// - Parameters:
    ///   - key: the name of the admin key; nil when the request had none that is known.
    ///   - fields: adds further members.
    package func write(
        _ event: StaticString, _ level: Log.Level = .info, of request: HTTPRequest, by key: String?,
        _ fields: (inout LogLine) -> Void = { _ in }
    ) {
        (file?.log ?? log).append(level, event, at: LogTime.now(), isUrgent: true) { line in
            line.add("request_id", request.id)
            if let key { line.add("key", key) }
            line.add("client", request.client)
            line.add("peer", request.peer)
            line.add("method", request.method.label)
            line.add("route", request.match.route?.pattern.text ?? "-")
            let parameters = request.match.route?.pattern.parameterNames ?? []
            for (parameter, key) in Self.recorded where parameters.contains(parameter) {
                line.add(key, request.parameter(parameter))
            }
            let named = parameters.contains(Self.userParameter) ? request.parameter(Self.userParameter) : nil
            let user = named ?? (try? request.query)?["user_id"]
            if let shown = user.flatMap(log.shown) { line.add("user", shown) }
            if let session = request.note { line.add("session_id", "ses_", high: session.high, low: session.low) }
            fields(&line)
        }
        tellOfLost()
    }

    /// The parameters of paths that the line has, and their names there. The session is noted with the request.
    private static let recorded: [(parameter: String, key: StaticString)] = [("name", "service"), ("id", "id")]
    private static let userParameter = "user"

    private func tellOfLost() {
        guard let file else { return }
        let lost = file.log.droppedLines
        guard lost > told.exchange(lost, ordering: .relaxed) else { return }
        log.write(.error, "audit_not_written") { line in
            line.add("file", file.path)
            line.add("lines", lost)
        }
    }

    /// Opens the file again: lines go to the file that has its path now. If that fails, they go on to the former one.
    package func reopen() {
        guard let file else { return }
        do throws(AuditFileError) {
            try file.reopen()
            log.write(.info, "audit_reopened") { $0.add("file", file.path) }
        } catch {
            log.write(.error, "audit_not_reopened") { $0.add("detail", "\(error); lines go on to the former file.") }
        }
    }

    /// Waits until every line so far has been written.
    package func flush() { file?.log.flush() }

    package func write(to metrics: inout OpenMetricsWriter) {
        metrics.counter(
            "concierge_audit_lines_dropped", help: "Audit lines that could not be written to their file.",
            file?.log.droppedLines ?? 0)
    }
}

/// The file of `log.audit` cannot be opened.
package struct AuditFileError: Error, CustomStringConvertible {
    package let description: String
}

/// The file of the audit lines.
private final class AuditFile: Sendable {
    let path: String
    let log: Log
    private let descriptor: Int32

    init(_ path: String) throws(AuditFileError) {
        self.path = path
        descriptor = try Self.open(path)
        var settings = Configuration().log
        settings.format = .json
        log = Log(settings: settings, descriptor: descriptor)
    }

    deinit {
        log.flush()
        close(descriptor)
    }

    func reopen() throws(AuditFileError) {
        let new = try Self.open(path)
        // What came before belongs to the former file.
        log.flush(atMost: .seconds(1))
        // Whatever the writer is doing, it ends in one of the two.
        dup2(new, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        close(new)
    }

    /// Without O_NONBLOCK, opening a FIFO without a reader would wait for ever.
    private static func open(_ path: String) throws(AuditFileError) -> Int32 {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw AuditFileError(
                description: "log.audit: \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }
}
