import Glibc

/// A connection of a ``FaultProxy``, for its thread.
final class FaultedConnection {
    private struct Flow {
        /// What waits until it is passed on, and when.
        var pieces: [(bytes: [UInt8], due: ContinuousClock.Instant)] = []
        var delay = Duration.zero
        /// The bytes that are passed on before both ends are reset.
        var rest: Int?
        var isSwallowing = false
        /// The sender has closed its end.
        var isAtEnd = false
    }

    private var client: Int32
    /// -1 for a connection that leads nowhere.
    private var server: Int32 = -1
    private var toServer = Flow()
    private var toClient = Flow()
    private(set) var isOver = false

    /// - Parameter port: `nil` to lead nowhere.
    init(_ client: Int32, to port: UInt16?) {
        self.client = client
        Self.prepare(client)
        guard let port else {
            toServer.isSwallowing = true
            return
        }
        server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(port)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        Self.prepare(server)
        if code != 0 { reset() }
    }

    static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func prepare(_ socket: Int32) {
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        // A server that is started meanwhile would keep it open.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    }

    func suffer(_ fault: FaultProxy.Fault, _ now: ContinuousClock.Instant) {
        guard !isOver else { return }
        switch fault {
        case .cut: reset()
        case .cutAfter(let count, .toServer): toServer.rest = count
        case .cutAfter(let count, .toClient): toClient.rest = count
        case .swallow(.toServer): toServer.isSwallowing = true
        case .swallow(.toClient): toClient.isSwallowing = true
        case .delay(let milliseconds, .toServer): toServer.delay = .milliseconds(milliseconds)
        case .delay(let milliseconds, .toClient): toClient.delay = .milliseconds(milliseconds)
        case .cutLate(let milliseconds):
            toServer.delay = .milliseconds(milliseconds)
            receive(client, &toServer, now)
            for place in toServer.pieces.indices { toServer.pieces[place].due = now + toServer.delay }
            // The server's end stays open for as long.
            toServer.pieces.append(([], now + toServer.delay))
            toServer.isAtEnd = true
            toClient.isSwallowing = true
            toClient.pieces = []
            Self.reset(&client)
        }
    }

    /// Passes on what is due.
    func move(_ now: ContinuousClock.Instant) {
        guard !isOver else { return }
        receive(client, &toServer, now)
        receive(server, &toClient, now)
        pass(&toServer, to: server, now)
        pass(&toClient, to: client, now)
        let isDone = { (flow: Flow) in flow.isAtEnd && flow.pieces.isEmpty }
        if toServer.rest == 0 || toClient.rest == 0 {
            reset()
        } else if isDone(toServer) || isDone(toClient) {
            finish()
        }
    }

    private func receive(_ socket: Int32, _ flow: inout Flow, _ now: ContinuousClock.Instant) {
        guard socket >= 0, !flow.isAtEnd, flow.pieces.count < Self.mostPieces else { return }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { flow.isAtEnd = true }
            return
        }
        if flow.isSwallowing { return }
        // In their order, whatever the delay was before.
        let due = max(now + flow.delay, flow.pieces.last?.due ?? now)
        flow.pieces.append((Array(buffer[..<count]), due))
    }

    private func pass(_ flow: inout Flow, to socket: Int32, _ now: ContinuousClock.Instant) {
        while let first = flow.pieces.first, first.due <= now {
            guard socket >= 0, !flow.isSwallowing else {
                flow.pieces.removeFirst()
                continue
            }
            let wanted = min(first.bytes.count, flow.rest ?? .max)
            let count = send(socket, first.bytes, wanted, Int32(MSG_NOSIGNAL))
            guard count >= 0 else {
                if errno != EAGAIN, errno != EINTR { reset() }
                return
            }
            flow.rest = flow.rest.map { $0 - count }
            if flow.rest == 0 { return }
            if count == first.bytes.count {
                flow.pieces.removeFirst()
            } else {
                flow.pieces[0].bytes.removeFirst(count)
            }
        }
    }

    /// Milliseconds until something is due; `nil` when nothing is.
    func pause(_ now: ContinuousClock.Instant) -> Int32? {
        [toServer, toClient].compactMap { $0.pieces.first?.due }.min().map { due in
            let time = (due - now).components
            return Int32(max(0, time.seconds * 1_000 + time.attoseconds / 1_000_000_000_000_000 + 1))
        }
    }

    /// What to wait for.
    var interests: [pollfd] {
        [(client, toServer), (server, toClient)].compactMap { socket, flow in
            guard socket >= 0, !flow.isAtEnd, flow.pieces.count < Self.mostPieces else { return nil }
            return pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        }
    }

    func reset() {
        isOver = true
        Self.reset(&client)
        Self.reset(&server)
    }

    /// Closes both ends. What was passed on arrives.
    private func finish() {
        isOver = true
        for socket in [client, server] where socket >= 0 { close(socket) }
        (client, server) = (-1, -1)
    }

    private static func reset(_ socket: inout Int32) {
        guard socket >= 0 else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(socket)
        socket = -1
    }

    private static let mostPieces = 1_000
}
