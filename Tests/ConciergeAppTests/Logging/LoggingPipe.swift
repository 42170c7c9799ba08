import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import Operations
import Support
import Testing

/// A log that goes to a pipe whose reader takes its time.
struct LoggingPipe: ~Copyable {
    private let reader: Int32
    private let writer: Int32
    private var log: Log?

    /// - Parameter isBlocking: whether the end that the log has is.
    init(capacity: Int = Log.defaultCapacity, isBlocking: Bool = true) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        reader = ends[0]
        writer = ends[1]
        if !isBlocking { _ = fcntl(writer, F_SETFL, O_NONBLOCK) }
        log = Log(settings: Configuration().log, descriptor: writer, capacity: capacity)
    }

    deinit {
        // Lets a writer go that waits for room.
        close(reader)
        log?.flush()
        close(writer)
    }

    func withLog<Result>(_ body: (Log) throws -> Result) rethrows -> Result? { try log.map(body) }

    /// Reads from now on, until the log has been flushed.
    func readAll() async throws -> [String] {
        let (reader, writer, log) = (reader, writer, log)
        async let bytes = blocking {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while bytes.last != 0 {
                let count = read(reader, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            return bytes.last == 0 ? Array(bytes.dropLast()) : bytes
        }
        // A NUL, which no line has, says that this was all.
        try await blocking {
            // However busy the machine is: what is written before the lines would be taken for their end.
            while log?.flush(atMost: .seconds(10)) == false {}
            // The pipe may still be full: this waits for room, whatever the log's end did.
            _ = fcntl(writer, F_SETFL, 0)
            var end: UInt8 = 0
            write(writer, &end, 1)
        }
        return try await bytes.logLines
    }
}

extension JSONDocument {
    /// The names of its members, which have no order.
    var names: Set<String> { Set((members ?? []).map(\.name)) }
}
