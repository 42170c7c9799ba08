import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

@testable import ConciergeApp
@testable import Operations

@Suite("Writing the log", .timeLimit(.minutes(1)))
struct LoggingWriterTests {
    private static func write(_ number: Int, to log: Log, level: Configuration.Log.Level = .info) {
        log.write(level, "numbered") { line in
            line.add("number", number)
            line.add("padding", String(repeating: "x", count: number % 300))
        }
    }

    @Test("When nobody reads, lines are dropped rather than waited for, and the log says later how many")
    func dropping() async throws {
        // Twice what a pipe holds: whenever the writer comes to write, it cannot write everything.
        let pipe = try LoggingPipe(capacity: 128 << 10)
        let count = 4_000
        let dropped = try #require(
            pipe.withLog { log in
                for number in 0..<count { Self.write(number, to: log) }
                #expect(!log.flush(atMost: .milliseconds(1)))
                return log.droppedLines
            })
        #expect(dropped > 0 && dropped < count)

        let lines = try await pipe.readAll().map { try JSONDocument(parsing: $0) }
        let reports = lines.filter { $0[member: "event"] == "log_dropped" }
        #expect(reports.compactMap { $0[member: "lines"]?.int }.reduce(0, +) == dropped)
        #expect(reports.allSatisfy { $0[member: "level"] == "warning" })
        let numbers = lines.compactMap { $0[member: "number"]?.int }
        #expect(numbers.count == count - dropped)
        #expect(numbers == numbers.sorted())
    }

    @Test("Flushing waits for every line, also when the descriptor does not block", arguments: [true, false])
    func flushing(_ isBlocking: Bool) async throws {
        let pipe = try LoggingPipe(isBlocking: isBlocking)
        // More than a pipe holds.
        pipe.withLog { log in
            for number in 0..<1_000 { Self.write(number, to: log) }
        }
        let lines = try await pipe.readAll().map { try JSONDocument(parsing: $0) }
        #expect(lines.compactMap { $0[member: "number"]?.int } == Array(0..<1_000))
    }

    @Test("A reader that went away costs lines, and neither a signal nor a wait")
    func brokenPipe() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        let log = Log(settings: Configuration().log, descriptor: ends[1])
        for number in 0..<10 { Self.write(number, to: log) }
        #expect(log.flush())
        #expect(log.droppedLines == 10)
        Self.write(10, to: log)
        #expect(log.flush())
        #expect(log.droppedLines == 11)
        close(ends[1])
    }

    @Test("Lines of many threads stay whole, and each thread's are in its order")
    func threads() async throws {
        let file = try LogFile()
        let log = file.log
        let threads = 8
        let perThread = 2_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask {
                    try await blocking {
                        for index in 0..<perThread {
                            Self.write(
                                thread * perThread + index, to: log, level: index % 100 == 0 ? .error : .info)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let numbers = try file.documents().compactMap { $0[member: "number"]?.int }
        #expect(log.droppedLines == 0)
        #expect(numbers.count == threads * perThread)
        for thread in 0..<threads {
            let range = thread * perThread..<(thread + 1) * perThread
            #expect(numbers.filter(range.contains) == Array(range))
        }
    }

    @Test("A line is written without being asked for: a reader that waits gets it")
    func unasked() async throws {
        for level in [Configuration.Log.Level.info, .info, .error] {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let (reader, writer) = (ends[0], ends[1])
            let log = Log(settings: Configuration().log, descriptor: writer)
            Self.write(1, to: log, level: level)
            Self.write(2, to: log, level: level)
            let bytes = try await blocking {
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while bytes.logLines.count < 2 || bytes.last != UInt8(ascii: "\n") {
                    let count = read(reader, &buffer, buffer.count)
                    guard count > 0 else { break }
                    bytes += buffer[..<count]
                }
                return bytes
            }
            #expect(bytes.logLines.count == 2)
            log.flush()
            close(reader)
            close(writer)
        }
    }
}

@Suite("Lines that repeat") struct LogLimitTests {
    @Test("one a second is written, and says how many were not")
    func limit() {
        let limit = LogLimit()
        let second: UInt64 = 1_000_000_000
        let admitted = stride(from: 5 * second, to: 8 * second, by: Int(second / 10)).map { limit.admit(at: $0) }
        #expect(admitted.count == 30)
        #expect(admitted.enumerated().filter { $1 != nil }.map(\.offset) == [0, 10, 20])
        #expect(admitted.compactMap(\.self) == [0, 9, 9])
        #expect(limit.admit(at: 20 * second) == 9)
        #expect(limit.admit(at: 30 * second) == 0)
    }
}
