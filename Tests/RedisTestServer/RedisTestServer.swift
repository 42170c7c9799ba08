import Glibc
import Synchronization

/// A Redis server of its own, in a folder of its own, with every write on the disk before its reply, or a sentinel. It
/// ends with this object, or with the process.
package final class RedisTestServer: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Process {
        let shell: pid_t
        let server: pid_t
        /// The shell kills the server and removes its data when this is closed, however this process ends.
        let life: Int32
        let output: Int32
    }

    package let folder: String
    package let port: UInt16
    private let arguments: [String]
    /// What it writes when it accepts connections.
    private let isReady: String
    private let process = Mutex<Process?>(nil)

    /// One for all tests that need nothing but a prefix of their own.
    package static let shared = Result { try RedisTestServer() }

    /// - Parameters:
    ///   - options: of the command line, as `--requirepass`.
    ///   - isInMemory: whether its files are in memory, where a write costs no time. They survive it all the same.
    package init(_ options: [String] = [], isInMemory: Bool = false) throws {
        folder = try Self.folder(isInMemory: isInMemory)
        port = try Self.freePort()
        arguments =
            [
                "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder, "--appenddirname", "\(port)", "--save", "",
                "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "yes",
            ] + options
        isReady = "Ready to accept connections"
        try start()
    }

    /// A node that belongs to no cluster yet.
    ///
    /// - Parameter timeout: after how many milliseconds a node that does not respond has failed.
    package static func node(timeout: Int) throws -> RedisTestServer {
        let bus = try freePort()
        return try RedisTestServer([
            "--cluster-enabled", "yes", "--cluster-port", "\(bus)", "--cluster-node-timeout", "\(timeout)",
            "--repl-diskless-sync-delay", "0",
        ])
    }

    /// A sentinel that calls a master `mymaster`.
    ///
    /// - Parameters:
    ///   - options: lines of its configuration.
    ///   - timeout: after how many milliseconds a master that does not respond has failed.
    package init(sentinelOf master: RedisTestServer, quorum: Int, timeout: Int, _ options: [String] = []) throws {
        folder = try Self.folder()
        port = try Self.freePort()
        let lines =
            [
                "port \(port)", "bind 127.0.0.1", "dir \(folder)",
                "sentinel monitor mymaster 127.0.0.1 \(master.port) \(quorum)",
                "sentinel down-after-milliseconds mymaster \(timeout)", "sentinel failover-timeout mymaster 10000",
            ] + options
        let path = "\(folder)/sentinel.conf"
        guard let file = fopen(path, "w") else { throw Failure(description: "no \(path): errno \(errno)") }
        fputs(lines.joined(separator: "\n") + "\n", file)
        fclose(file)
        arguments = [path, "--sentinel"]
        isReady = "+monitor master"
        try start()
    }

    deinit {
        end(keepsData: false)
    }

    /// Starts it, on the data that it had, and waits until it accepts connections.
    ///
    /// - Parameter options: of the command line, for this time.
    package func start(_ options: [String] = []) throws {
        let script = """
            redis-server "$@" </dev/null & echo "pid=$!"; read line; kill -9 $!; wait; test "$line" = keep || rm -r "$0"
            """
        let (shell, life, output) = try Self.spawning.withLock { _ in
            try Self.spawn(["sh", "-c", script, folder] + arguments + options)
        }
        var text = ""
        while !text.contains(isReady) {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var look = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let count = poll(&look, 1, 60_000) == 1 ? read(output, &buffer, buffer.count) : 0
            guard count > 0, !text.contains("not found"), !text.contains("aborting") else {
                close(life)
                close(output)
                waitpid(shell, nil, 0)
                throw Failure(description: "redis-server (package redis-server) does not start: \(text)")
            }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        let digits = text.drop { $0 != "=" }.dropFirst().prefix { $0.isNumber }
        guard let server = pid_t(digits) else { throw Failure(description: "no pid: \(text)") }
        process.withLock { $0 = Process(shell: shell, server: server, life: life, output: output) }
    }

    /// A child that another thread starts between the two calls of ``pipe()`` would keep the ends open.
    private static let spawning = Mutex(())

    private static func spawn(_ words: [String]) throws -> (shell: pid_t, life: Int32, output: Int32) {
        let (input, life) = try pipe()
        let (output, written) = try pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, written, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, written, STDERR_FILENO)
        let words = words.map { strdup($0) }
        defer { for word in words { free(word) } }
        // The shell needs the signal that a child has ended, which this thread may block.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var shell = pid_t()
        let code = posix_spawn(&shell, "/bin/sh", &actions, &attributes, words + [nil], environ)
        close(input)
        close(written)
        guard code == 0 else { throw Failure(description: "no shell: errno \(code)") }
        return (shell, life, output)
    }

    /// Ends it with SIGKILL. Its data stay for ``start()``.
    package func kill() { end(keepsData: true) }

    private func end(keepsData: Bool) {
        process.withLock { process in
            guard let ended = process else { return }
            process = nil
            if keepsData { _ = write(ended.life, "keep\n", 5) }
            close(ended.life)
            waitpid(ended.shell, nil, 0)
            close(ended.output)
        }
    }

    /// Sends it a signal. After SIGSTOP it has stopped.
    package func send(_ signal: Int32) {
        process.withLock { process in
            guard let pid = process?.server else { return }
            _ = Glibc.kill(pid, signal)
            while signal == SIGSTOP, !Self.isStopped(pid) { sched_yield() }
        }
    }

    /// Also true when it has ended (`proc(5)`).
    private static func isStopped(_ pid: pid_t) -> Bool {
        guard let file = fopen("/proc/\(pid)/stat", "r") else { return true }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        return !text.contains(") R ") && !text.contains(") S ") && !text.contains(") D ")
    }

    private static func pipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw Failure(description: "no pipe: errno \(errno)") }
        // Otherwise other children would keep it open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func folder(isInMemory: Bool = false) throws -> String {
        let place = isInMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(place)/concierge-redis-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no folder: errno \(errno)") }
        return template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    private static let lastPort = Mutex(UInt16.random(in: 10_000..<20_000))

    /// Below those that the kernel gives to connections, which could take it before the server does
    /// (`ip_local_port_range` in `ip(7)`).
    package static func freePort() throws -> UInt16 {
        for _ in 0..<1_000 {
            // A program that starts meanwhile would keep it.
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            // None twice, since a server that starts at the same time may not have taken its own yet.
            let port = lastPort.withLock { last in
                last = last < 20_000 ? last + 1 : 10_000
                return last
            }
            if bind(descriptor, to: port) { return port }
        }
        throw Failure(description: "no free port: errno \(errno)")
    }

    /// Gives a socket that port of loopback, if it is free.
    static func bind(_ descriptor: Int32, to port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
