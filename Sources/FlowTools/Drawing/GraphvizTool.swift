import Glibc
import Threads

/// Graphviz' program `dot`, which lays out and draws a graph.
///
/// A process is started for each drawing and gets nothing but the text: no file, no network address, no environment.
/// Its standard error is discarded, and so is a drawing that takes too long.
package struct GraphvizTool: Sendable {
    /// The path of the program.
    package let path: String
    private let arguments: [String]
    private let limits: GraphvizLimits

    /// Looks for `dot` as a shell does; `nil` when it is not installed. Then there are no drawings.
    ///
    /// - Parameter searchPath: directories separated by colons, as in `PATH`.
    package init?(searching searchPath: String, limits: GraphvizLimits = GraphvizLimits()) {
        let folders = searchPath.split(separator: ":").filter { $0.hasPrefix("/") }
        guard let path = folders.map({ String($0) + "/dot" }).first(where: { access($0, X_OK) == 0 }) else {
            return nil
        }
        self.init(path: path, limits: limits)
    }

    init(path: String, arguments: [String] = ["-Tsvg"], limits: GraphvizLimits = GraphvizLimits()) {
        self.path = path
        self.arguments = arguments
        self.limits = limits
    }

    /// Draws a graph. It may take a few hundred milliseconds without occupying a thread of the caller: keep the result.
    ///
    /// - Parameter dot: the graph in Graphviz' language.
    /// - Throws: ``GraphvizError``.
    package func svg(of dot: String) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            let drawing = GraphvizDrawing(path: path, arguments: arguments, input: Array(dot.utf8), limits: limits)
            DetachedThread.run("drawing") {
                continuation.resume(with: Result { Self.withoutProlog(try drawing.draw()) })
            }
        }
    }

    /// Only the SVG element. What precedes it names the program and its version, which is not public, and a DOCTYPE,
    /// which some readers would fetch. Only later versions have the option `svg_inline` for this.
    private static func withoutProlog(_ drawing: [UInt8]) -> [UInt8] {
        let tag = Array("<svg".utf8)
        for place in drawing.indices where drawing[place] == tag[0] && drawing[place...].starts(with: tag) {
            return Array(drawing[place...])
        }
        return drawing
    }
}

/// The limits of a drawing.
package struct GraphvizLimits: Sendable {
    /// In seconds. A flow of two hundred screens needs about one.
    var time = 5.0
    /// A larger drawing is useless.
    var bytes = 16 << 20

    package init() {}
}

/// Why there is no drawing.
package enum GraphvizError: Error, Sendable, Equatable {
    /// The process cannot be started: too few processes, descriptors or too little memory.
    case cannotStart(code: Int32)
    /// It took too long.
    case timedOut
    /// The drawing is too large.
    case tooLarge
    /// It ended with this status; `nil` when a signal ended it.
    case failed(status: Int32?)
}

/// One run of the program: text in, drawing out. It blocks its thread.
private struct GraphvizDrawing {
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
        let drawing: [UInt8]
        let status: Int32?
        do throws(GraphvizError) {
            drawing = try converse(on: ends[0], until: deadline)
            status = try Self.wait(for: process, until: deadline)
        } catch {
            // The process may have ended, but its number cannot be reused before it is waited for.
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            throw error
        }
        guard status == 0 else { throw .failed(status: status) }
        return drawing
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
