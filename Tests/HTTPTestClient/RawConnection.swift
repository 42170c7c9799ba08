import Glibc

/// A connection that sends exactly the bytes it is given and reads what comes back: nothing is mended on the way.
///
/// Every call blocks, up to a minute: use it inside `blocking`, which gives it a thread of its own.
public final class RawConnection {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
        /// The other side closed, or reset, the connection.
        public var isEndOfStream = false
    }

    /// What lies between the bytes and the socket: TLS.
    public struct Layer {
        /// Like `send` and `recv`.
        let send: ([UInt8]) -> Int
        let receive: (inout [UInt8]) -> Int

        public init(send: @escaping ([UInt8]) -> Int, receive: @escaping (inout [UInt8]) -> Int) {
            self.send = send
            self.receive = receive
        }
    }

    public let descriptor: Int32
    /// Nil for plain bytes.
    public var layer: Layer?
    private var unread: [UInt8] = []
    private var isOpen = true

    /// - Parameters:
    ///   - receiveBuffer: bytes that the kernel takes before they are read; nil for as many as it likes.
    ///   - text: what is sent at once.
    public init(
        port: UInt16, timeoutSeconds: Int = 60, receiveBuffer: Int32? = nil, sending text: String? = nil
    ) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            Glibc.close(descriptor)
            isOpen = false
            throw Failure(description: "cannot connect to port \(port): \(String(cString: strerror(errno)))")
        }
        setTimeout(timeoutSeconds)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        if let text { try send(text) }
    }

    /// - Parameter path: of a socket in the file system.
    public init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let connected = withSocketAddress(path) { connect(descriptor, $0, $1) }
        guard connected == 0 else {
            let reason = errno
            Glibc.close(descriptor)
            isOpen = false
            throw Failure(description: "cannot connect to \(path): \(String(cString: strerror(reason)))")
        }
        setTimeout(60)
    }

    private func setTimeout(_ seconds: Int) {
        var timeout = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    /// Asks for a path, and reads the answer.
    public func get(_ path: String = "/") throws -> TestResponse {
        try send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
        return try readResponse()
    }

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    public func send(_ bytes: [UInt8]) throws {
        if let layer {
            guard layer.send(bytes) == bytes.count else { throw Failure(description: "send: the layer failed") }
            return
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
            sent += count
        }
    }

    /// Says that nothing more will be sent, and goes on reading.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes, with a reset if wanted, as the kernel does for a client that is killed with bytes unread.
    public func close(withReset: Bool = false) {
        guard isOpen else { return }
        isOpen = false
        var option = linger(l_onoff: withReset ? 1 : 0, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        Glibc.close(descriptor)
    }

    /// More bytes; false at the end of the stream or after a reset.
    private func fill() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = layer?.receive(&buffer) ?? recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { throw Failure(description: "nothing came for too long") }
        guard count > 0 else { return false }
        unread += buffer[..<count]
        return true
    }

    /// Whatever comes until the other side closes.
    public func readToEnd() throws -> [UInt8] {
        while try fill() {}
        defer { unread = [] }
        return unread
    }

    /// The next answer.
    /// - Parameters:
    ///   - isBodiless: the answer to a HEAD.
    ///   - passingOverInterim: whether an interim answer (100) is skipped.
    public func readResponse(isBodiless: Bool = false, passingOverInterim: Bool = true) throws -> TestResponse {
        let separator: [UInt8] = [13, 10, 13, 10]
        var end = unread.firstIndex(of: separator)
        while end == nil {
            guard try fill() else {
                throw Failure(
                    description: "closed before an answer: \(unread.count) bytes", isEndOfStream: unread.isEmpty)
            }
            end = unread.firstIndex(of: separator)
        }
        let head = String(decoding: unread[..<end!], as: UTF8.self)
        unread.removeFirst(end! + separator.count)
        var response = try TestResponse(head: head)
        if response.status == 100 {
            return passingOverInterim ? try readResponse(isBodiless: isBodiless) : response
        }
        guard !isBodiless, response.status != 204, response.status != 304 else { return response }
        if response["Transfer-Encoding"] == "chunked" {
            do {
                while let chunk = try readChunk() { response.body += chunk }
            } catch let failure as Failure where failure.isEndOfStream {
                response.isWhole = false
            }
        } else if let length = response["Content-Length"].flatMap(Int.init) {
            while unread.count < length {
                guard try fill() else { throw Failure(description: "closed inside a body") }
            }
            response.body = Array(unread[..<length])
            unread.removeFirst(length)
        } else {
            response.body = try readToEnd()
        }
        return response
    }

    /// The next chunk of a body whose head was read as that of one without; nil at the end of the body.
    public func readChunk() throws -> [UInt8]? {
        var end = unread.firstIndex(of: 10)
        while end == nil {
            guard try fill() else { throw Failure(description: "closed before a chunk", isEndOfStream: true) }
            end = unread.firstIndex(of: 10)
        }
        let line = String(decoding: unread[..<(end! - 1)], as: UTF8.self)
        guard let size = Int(line, radix: 16) else { throw Failure(description: "no chunk: \(line)") }
        while unread.count < end! + 1 + size + 2 {
            guard try fill() else { throw Failure(description: "closed inside a chunk", isEndOfStream: true) }
        }
        defer { unread.removeFirst(end! + 1 + size + 2) }
        return size == 0 ? nil : Array(unread[(end! + 1)..<(end! + 1 + size)])
    }

    /// Whether something has come, the end of the stream included, or does so within that time.
    public func hasSomethingToRead(withinMilliseconds time: Int32) -> Bool {
        if !unread.isEmpty { return true }
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&look, 1, time) == 1
    }

    /// Returns when the other side is wholly gone, or that time is over, without reading anything.
    public func waitForHangUp(withinMilliseconds time: Int32) {
        // POLLRDHUP is the end of the other side's stream, behind bytes that nobody has read.
        var look = pollfd(fd: descriptor, events: Int16(0x2000), revents: 0)
        poll(&look, 1, time)
    }

    /// Whether the other side is wholly gone.
    public func hasHungUp() -> Bool {
        var look = pollfd(fd: descriptor, events: Int16(0x2000), revents: 0)
        return poll(&look, 1, 0) == 1
    }

    /// Whether the other side has closed, or does so within the time allowed, without sending anything more.
    public func isClosedByPeer() -> Bool { unread.isEmpty && (try? fill()) == false }
}

extension Array where Element == UInt8 {
    fileprivate func firstIndex(of separator: [UInt8]) -> Int? {
        guard count >= separator.count else { return nil }
        return (0...(count - separator.count)).first { self[$0..<($0 + separator.count)].elementsEqual(separator) }
    }
}

/// An answer as it came over the wire.
public struct TestResponse: Sendable {
    public let status: Int
    /// The phrase behind the status, as in "No Content".
    public let reason: String
    public let fields: [(name: String, value: String)]
    public var body: [UInt8] = []
    /// False when the connection ended before a chunked body did.
    public var isWhole = true

    public init(head: String) throws {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let parts = lines[0].split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0", let status = Int(parts[1]) else {
            throw RawConnection.Failure(description: "no status line: \(lines[0])")
        }
        self.status = status
        reason = parts.count > 2 ? String(parts[2]) : ""
        fields = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            let value = line[colon...].dropFirst().drop { $0 == " " }
            return (String(line[..<colon]), String(value))
        }
    }

    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The first value of that name, whatever its case.
    public subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    public func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}
