import Glibc
import Synchronization
import Threads

/// A TCP proxy in front of a port of this machine that fails as networks, tunnels and load balancers fail, when a test
/// says so.
package final class FaultProxy: Sendable {
    package enum Direction: Sendable, CaseIterable { case toServer, toClient }

    /// Something that happens to the connections that there are.
    package enum Fault: Sendable, Equatable {
        /// Both ends are reset at once. What was not passed on is lost.
        case cut
        /// The same after so many more bytes in one direction, in the middle of a request or of a reply.
        case cutAfter(Int, Direction)
        /// The client's end is reset at once, the server's is closed so many milliseconds later. What the client has
        /// sent and was not passed on reaches the server then.
        case cutLate(Int)
        /// Nothing more is passed on in one direction, and nobody is told.
        case swallow(Direction)
        /// What comes from now on in one direction takes so many milliseconds.
        case delay(Int, Direction)
    }

    /// What new connections meet.
    package enum Door: Sendable, Equatable {
        case open, refusing
        /// They are accepted, and nothing more happens.
        case silent
    }

    package let port: UInt16
    private let server: UInt16
    private let listener: Int32
    /// Both ends of a pipe, which wakes the thread.
    private let signal: (reader: Int32, writer: Int32)

    private struct State {
        var door = Door.open
        var faults: [Fault] = []
        /// Those that wait until a fault or a door takes effect.
        var callers: [CheckedContinuation<Void, Never>] = []
        var isClosing = false
        var isClosed = false
        var accepted = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// - Parameter server: the port to connect to.
    package init(to server: UInt16) throws {
        self.server = server
        // Its port must be chosen, not given: otherwise it is another one when the socket listens again.
        port = try RedisTestServer.freePort()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // Otherwise it cannot listen again while there are connections.
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var ends: [Int32] = [-1, -1]
        let piped = pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        signal = (ends[0], ends[1])
        var address = FaultedConnection.address(port)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard piped == 0, code == 0, listen(listener, 64) == 0, DetachedThread.start("fault proxy", { self.run() })
        else {
            throw RedisTestServer.Failure(description: "no proxy: errno \(errno)")
        }
    }

    package func close() {
        state.withLock { state in
            state.isClosing = true
            wake(state)
        }
    }

    /// Has something happen, and returns when it has.
    package func cause(_ fault: Fault) async { await change { $0.faults.append(fault) } }

    /// What new connections meet from now on.
    package func set(_ door: Door) async { await change { $0.door = door } }

    private func change(_ body: (inout State) -> Void) async {
        await withCheckedContinuation { caller in
            let isClosing = state.withLock { state in
                body(&state)
                if !state.isClosing { state.callers.append(caller) }
                wake(state)
                return state.isClosing
            }
            if isClosing { caller.resume() }
        }
    }

    /// How many connections were made so far.
    package var accepted: Int { state.withLock(\.accepted) }

    /// Waits until so many connections were made.
    package func wait(forConnections count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.accepted < count { state.waiting.append((count, continuation)) }
                return state.accepted >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Under the lock, so that the descriptor is not yet another's.
    private func wake(_ state: borrowing State) {
        if !state.isClosed { _ = write(signal.writer, "!", 1) }
    }

    // MARK: The thread

    private func run() {
        var connections: [FaultedConnection] = []
        var door = Door.open
        while true {
            let (isClosing, wanted, faults, callers) = state.withLock { state in
                (state.isClosing, state.door, exchange(&state.faults, with: []), exchange(&state.callers, with: []))
            }
            if isClosing {
                for caller in callers { caller.resume() }
                break
            }
            // A socket that is bound and does not listen refuses.
            if (wanted == .refusing) != (door == .refusing) {
                let code = wanted == .refusing ? shutdown(listener, Int32(SHUT_RDWR)) : listen(listener, 64)
                precondition(code == 0, "the proxy's door does not move: errno \(errno)")
            }
            door = wanted
            let now = ContinuousClock.now
            for fault in faults { for connection in connections { connection.suffer(fault, now) } }
            for caller in callers { caller.resume() }
            for connection in connections { connection.move(now) }
            connections.removeAll(where: \.isOver)
            var places = [pollfd(fd: signal.reader, events: Int16(POLLIN), revents: 0)]
            places.append(pollfd(fd: door == .refusing ? -1 : listener, events: Int16(POLLIN), revents: 0))
            places += connections.flatMap(\.interests)
            poll(&places, nfds_t(places.count), connections.compactMap { $0.pause(now) }.min() ?? -1)
            var buffer = [UInt8](repeating: 0, count: 64)
            _ = read(signal.reader, &buffer, buffer.count)
            if places[1].revents & Int16(POLLIN) != 0 { accept(door, &connections) }
        }
        for connection in connections { connection.reset() }
        state.withLock { state in
            state.isClosed = true
            for descriptor in [listener, signal.reader, signal.writer] { Glibc.close(descriptor) }
        }
    }

    private func accept(_ door: Door, _ connections: inout [FaultedConnection]) {
        let client = Glibc.accept(listener, nil, nil)
        guard client >= 0 else { return }
        connections.append(FaultedConnection(client, to: door == .silent ? nil : server))
        let waiting = state.withLock { state in
            state.accepted += 1
            let count = state.accepted
            defer { state.waiting.removeAll { $0.count <= count } }
            return state.waiting.filter { $0.count <= count }
        }
        for waiting in waiting { waiting.continuation.resume() }
    }
}
