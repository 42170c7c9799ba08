import Configuration
import Glibc
import JSONDocument
import Operations
import Testing

/// A log that goes to a file without a name, and what is in there.
package final class LogFile: Sendable {
    private nonisolated(unsafe) let file: UnsafeMutablePointer<FILE>
    package let log: Log

    package init(_ settings: Configuration.Log = Configuration().log) throws {
        file = try #require(tmpfile())
        log = Log(settings: settings, descriptor: fileno(file))
    }

    deinit {
        log.flush()
        fclose(file)
    }

    /// Everything that was logged so far.
    package func lines() -> [String] {
        log.flush()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(fileno(file), &buffer, buffer.count, off_t(bytes.count))
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes.logLines
    }

    /// Its lines, read as JSON.
    package func documents() throws -> [JSONDocument] { try lines().map { try JSONDocument(parsing: $0) } }
}

extension [UInt8] {
    /// The lines of a log. A rest after the last line break is half a line, and not JSON.
    package var logLines: [String] {
        var lines = split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }
}
