import ConciergeApp
import Glibc
import JSONDocument
import Testing

/// A log that goes to a file without a name, and what is in there.
struct LoggingFile: ~Copyable {
    private let file: UnsafeMutablePointer<FILE>
    let log: Log

    init(_ settings: Configuration.Log = Configuration().log) throws {
        file = try #require(tmpfile())
        log = Log(settings: settings, descriptor: fileno(file))
    }

    deinit {
        log.flush()
        fclose(file)
    }

    func lines() -> [String] {
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

    func documents() throws -> [JSONDocument] {
        try lines().map { try JSONDocument(parsing: $0) }
    }
}

extension [UInt8] {
    /// Only what `\n` ends is a line: what follows the last one is half of one, and fails to be JSON.
    var logLines: [String] {
        var lines = split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension JSONDocument {
    /// Of the members, in no order that matters: a document keeps none.
    var names: Set<String> { Set((members ?? []).map(\.name)) }
}
