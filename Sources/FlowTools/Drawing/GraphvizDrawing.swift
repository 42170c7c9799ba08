import Glibc

/// One run of the program: text in, drawing out. It blocks its thread.
struct GraphvizDrawing {
    let path: String
    let arguments: [String]
    let input: [UInt8]
    let limits: GraphvizLimits

    func draw() throws(GraphvizError) -> [UInt8] {
        // One socket is both its standard input and its output. The input ends when this side is shut down.
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .cannotStart(code: errno)
        }
        defer { close(ends[0]) }
        let process: pid_t
        do {
            defer { close(ends[1]) }
            process = try start(on: ends[1])
        }
        let deadline = Self.now() + limits.time
        do throws(GraphvizError) {
            let drawing = try converse(on: ends[0], until: deadline)
            let status = try Self.wait(for: process, until: deadline)
            guard status == 0 else { throw .failed(status: status) }
            return drawing
        } catch {
            // The process may have ended, but its number cannot be reused before it is waited for.
            if !Self.wasWaitedFor(error) {
                kill(process, SIGKILL)
                waitpid(process, nil, 0)
            }
            throw error
        }
    }

    /// Whether the process was waited for, so that its number may be reused.
    private static func wasWaitedFor(_ error: GraphvizError) -> Bool {
        if case .failed = error { true } else { false }
    }

    private func start(on socket: Int32) throws(GraphvizError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The server's threads block signals and the program ignores SIGPIPE: the child must inherit neither.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var process = pid_t()
        let code = posix_spawn(&process, path, &actions, &attributes, words + [nil], [nil])
        guard code == 0 else { throw .cannotStart(code: code) }
        return process
    }

    /// Writes the text and reads the drawing, as far as either is possible, until the program closes its output.
    private func converse(on socket: Int32, until deadline: Double) throws(GraphvizError) -> [UInt8] {
        var rest = input[...]
        var drawing: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        if rest.isEmpty { shutdown(socket, Int32(SHUT_WR)) }
        while true {
            var wish = pollfd(fd: socket, events: Int16(rest.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0)
            let left = deadline - Self.now()
            guard left > 0 else { throw .timedOut }
            guard poll(&wish, 1, Int32(left * 1000) + 1) > 0 else { continue }
            if wish.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
                let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if count == 0 { return drawing }
                if count > 0 {
                    drawing += buffer[..<count]
                    guard drawing.count <= limits.bytes else { throw .tooLarge }
                } else if errno == ECONNRESET {
                    // It ended before it had read everything: its status tells more.
                    return drawing
                }
            }
            if wish.revents & Int16(POLLOUT) != 0, !rest.isEmpty {
                let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
                let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, flags) }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EPIPE {
                    rest = []
                }
                if rest.isEmpty { shutdown(socket, Int32(SHUT_WR)) }
            }
        }
    }

    /// - Returns: the exit status; `nil` when a signal ended it.
    private static func wait(for process: pid_t, until deadline: Double) throws(GraphvizError) -> Int32? {
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            guard now() < deadline else { throw .timedOut }
            // It has closed its output and is about to end.
            usleep(1000)
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
