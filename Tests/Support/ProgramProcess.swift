import Glibc
import HTTPTestClient
import JSONDocument
import Synchronization
import Testing

/// The program as a process of its own: the one that is shipped, see ``executable()``.
package final class ProgramProcess: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// How the process ended, and what it wrote.
    package struct Result: Sendable {
        /// Nil when a signal ended it.
        package let status: Int32?
        package let output: String
        package let complaints: String

        package var lines: [Substring] { complaints.split(separator: "\n") }
    }

    package let identifier: pid_t
    private let output: Stream
    private let complaints: Stream
    private let hasEnded = Mutex(false)

    /// - Parameters:
    ///   - wrapper: a program, by its path, and its arguments, that starts ours and becomes it, as `strace -D`.
    ///   - descriptors: what it gets as 3, 4 and so on.
    package convenience init(
        _ arguments: [String], environment: [String: String] = [:], through wrapper: [String] = [],
        passing descriptors: [Int32] = []
    ) throws {
        try self.init(
            command: wrapper + [try Self.executable()] + arguments, environment: environment, passing: descriptors)
    }

    /// Another program, by its path.
    package init(command: [String], environment: [String: String], passing descriptors: [Int32] = []) throws {
        let path = command[0]
        output = try Stream()
        complaints = try Stream()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output.writer, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, complaints.writer, STDERR_FILENO)
        // Otherwise it would keep the connections of other tests open.
        // From places that are none of those.
        let copies = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
        defer { for copy in copies { close(copy) } }
        for (place, copy) in copies.enumerated() { posix_spawn_file_actions_adddup2(&actions, copy, 3 + Int32(place)) }
        try Self.closeAll(from: 3 + Int32(copies.count), in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = command.map { strdup($0) }
        let variables = (Array(environment) + Self.inherited).map { strdup("\($0.key)=\($0.value)") }
        defer { for text in words + variables { free(text) } }
        var identifier = pid_t()
        let failure = posix_spawn(&identifier, path, &actions, &attributes, words + [nil], variables + [nil])
        output.closeWriter()
        complaints.closeWriter()
        guard failure == 0 else { throw Failure(description: "cannot start: \(String(cString: strerror(failure)))") }
        self.identifier = identifier
    }

    /// What `scripts/prove-durability` sets, whose build alone has bugs to choose from, and what `scripts/sanitize` sets, so
    /// that it hears of the program's reports as well.
    private static var inherited: [(key: String, value: String)] {
        let sanitizer = ["ASAN_OPTIONS", "LD_PRELOAD", "SWIFT_BACKTRACE", "TSAN_OPTIONS", "UBSAN_OPTIONS"]
        return (["PLANTED_BUG"] + (isSanitized ? sanitizer : [])).compactMap { name in
            getenv(name).map { (name, String(cString: $0)) }
        }
    }

    /// `posix_spawn_file_actions_addclosefrom_np`, which the headers show to GNU programs only.
    private static func closeAll(from descriptor: Int32, in actions: inout posix_spawn_file_actions_t) throws {
        typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            throw Failure(description: "no posix_spawn_file_actions_addclosefrom_np: glibc 2.34 is needed")
        }
        guard unsafeBitCast(symbol, to: AddCloseFrom.self)(&actions, descriptor) == 0 else {
            throw Failure(description: "descriptors cannot be closed in the program")
        }
    }

    deinit {
        // A test that threw leaves it behind.
        guard !hasEnded.withLock({ $0 }) else { return }
        kill(identifier, SIGKILL)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
    }

    /// Runs it to its end.
    package static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        try await ProgramProcess(arguments, environment: environment).result()
    }

    /// The processor time that it has used so far.
    package func processorTime() throws -> Duration {
        var clock = clockid_t()
        guard clock_getcpuclockid(identifier, &clock) == 0 else {
            throw Failure(description: "no clock of the process")
        }
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// A file of proc(5) about it.
    package func status(_ name: String) throws -> String {
        let file = try #require(fopen("/proc/\(identifier)/\(name)", "r"))
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    package func send(_ signal: Int32) { kill(identifier, signal) }

    /// The first line on standard error, from here on, that is of that event.
    package func line(of event: String) async throws -> JSONDocument {
        try await blocking { [complaints] in
            while let line = try complaints.nextLine() {
                if let json = try? JSONDocument(parsing: line), json[string: "event"] == event { return json }
            }
            throw Failure(description: "ended without an event \(event): \(complaints.text)")
        }
    }

    /// The first line on standard output, from here on, that has a match; nil when it ends without one.
    package func output(matching isWanted: (String) -> Bool) throws -> String? {
        while let line = try output.nextLine() {
            if isWanted(line) { return line }
        }
        return nil
    }

    /// The same on standard error.
    package func complaint(matching isWanted: (String) -> Bool) throws -> String? {
        while let line = try complaints.nextLine() {
            if isWanted(line) { return line }
        }
        return nil
    }

    /// Waits until it listens.
    /// - Returns: the ports of the public and the admin listener.
    package func ports() async throws -> (publicPort: UInt16, adminPort: UInt16) {
        let line = try await line(of: "listening")
        func port(_ name: String) throws -> UInt16 {
            try #require(line[string: name]?.split(separator: ":").last.flatMap { UInt16($0) })
        }
        return (try port("public"), try port("admin"))
    }

    /// Waits for its end.
    ///
    /// - Parameter patience: the longest time without a line that it may take; nil for any.
    package func result(patience: Duration? = .seconds(60)) async throws -> Result {
        // Both at once: it could wait for one of them to be read.
        async let complaints = blocking { [complaints] in try complaints.readToEnd(patience) }
        async let output = blocking { [output] in try output.readToEnd(patience) }
        let texts = (try await output, try await complaints)
        let status = try await blocking { [identifier] in
            var status: Int32 = 0
            guard waitpid(identifier, &status, 0) == identifier else { throw Failure(description: "waitpid failed") }
            return status
        }
        hasEnded.withLock { $0 = true }
        Canary.check(texts.0 + texts.1, of: "what the program wrote")
        return Result(status: status & 0x7F == 0 ? (status >> 8) & 0xFF : nil, output: texts.0, complaints: texts.1)
    }

    /// One end of a pipe, read by one thread at a time.
    private final class Stream: Sendable {
        let writer: Int32
        private let reader: Int32
        private let bytes = Mutex((all: [UInt8](), taken: 0))

        init() throws {
            var ends: [Int32] = [-1, -1]
            // Another process that inherits the writer would keep it open after the program's end.
            guard pipe(&ends) == 0 else { throw Failure(description: "no pipe") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reader, writer) = (ends[0], ends[1])
        }

        deinit { close(reader) }

        func closeWriter() { close(writer) }

        var text: String { bytes.withLock { String(decoding: $0.all, as: UTF8.self) } }

        func nextLine() throws -> String? {
            while true {
                let line = bytes.withLock { bytes -> String? in
                    let rest = bytes.all[bytes.taken...]
                    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                    bytes.taken = end + 1
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                if let line { return line }
                guard try fill() else { return nil }
            }
        }

        func readToEnd(_ patience: Duration?) throws -> String {
            while try fill(patience) {}
            return text
        }

        private func fill(_ patience: Duration? = .seconds(60)) throws -> Bool {
            var look = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            let limit = patience.map { Int32($0.components.seconds) * 1000 } ?? -1
            guard poll(&look, 1, limit) == 1 else { throw Failure(description: "nothing came for too long: \(text)") }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(reader, &buffer, buffer.count)
            guard count > 0 else { return false }
            bytes.withLock { $0.all += buffer[..<count] }
            return true
        }
    }
}
