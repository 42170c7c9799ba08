import CHiredis
import Glibc
import Storage

/// Why there is no connection to Redis, in a sentence.
struct RedisFailure: Error, Sendable {
    let sentence: String
    /// Whether it stays as it is until somebody changes a configuration.
    let isPermanent: Bool
    /// The sentence, if so.
    var refusal: String? { isPermanent ? sentence : nil }

    init(_ sentence: String, isPermanent: Bool = false) {
        self.sentence = sentence
        self.isPermanent = isPermanent
    }
}

/// One established connection. For the thread of its ``RedisConnection``.
///
/// The socket is ours, of hiredis it is the parser only. With TLS, OpenSSL reads and writes it.
final class RedisLink {
    private let address: RedisAddress
    private let descriptor: Int32
    private let tls: RedisTLSLayer?
    private let reader: UnsafeMutablePointer<redisReader>
    private var output: [UInt8] = []
    private var sent = 0
    private var input = [UInt8](repeating: 0, count: 1 << 16)

    /// Bytes that wait for the socket.
    var outputCount: Int { output.count - sent }

    init(to address: RedisAddress, until deadline: ContinuousClock.Instant) throws(RedisFailure) {
        self.address = address
        let descriptor = try Self.connected(to: address, until: deadline)
        do throws(RedisFailure) {
            tls = try address.tls.map { (tls) throws(RedisFailure) in
                try RedisTLSLayer(on: descriptor, to: address, tls, until: deadline)
            }
            guard let reader = redisReaderCreate() else {
                throw RedisFailure("There is no memory for a connection to Redis.")
            }
            self.reader = reader
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        redisReaderFree(reader)
        close(descriptor)
    }

    // MARK: Connecting

    private static func connected(
        to address: RedisAddress, until deadline: ContinuousClock.Instant
    ) throws(RedisFailure) -> Int32 {
        let places: [HostLookup.Place]
        do throws(HostLookup.Reason) {
            places = try HostLookup.places(of: address.host, port: address.port, until: deadline)
        } catch {
            throw Self.unreachable(address, error.text)
        }
        var reason = "there is no address of that name"
        for (number, place) in places.enumerated() {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let descriptor = socket(place.family, type, 0)
            guard descriptor >= 0 else {
                reason = text(errno)
                continue
            }
            // The next one has its share of the time, if this one does not respond.
            let now = ContinuousClock.now
            let code = connect(descriptor, place, until: now + (deadline - now) / (places.count - number))
            if code == 0 {
                var one: Int32 = 1
                let size = socklen_t(MemoryLayout<Int32>.size)
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, size)
                setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, size)
                return descriptor
            }
            reason = text(code)
            close(descriptor)
        }
        throw Self.unreachable(address, reason)
    }

    /// 0, or the number of the error.
    private static func connect(
        _ descriptor: Int32, _ place: HostLookup.Place, until deadline: ContinuousClock.Instant
    ) -> Int32 {
        let isConnected = place.address.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            }
        }
        if isConnected == true { return 0 }
        guard errno == EINPROGRESS else { return errno }
        var places = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
        guard wait(&places, until: deadline) else { return ETIMEDOUT }
        var (code, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        return code
    }

    private static func unreachable(_ address: RedisAddress, _ reason: String) -> RedisFailure {
        RedisFailure("\(address) cannot be reached: \(reason).")
    }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

    // MARK: Sending and receiving

    func write(_ bytes: [UInt8]) { output += bytes }

    /// Sends what the socket takes.
    func flush() throws(RedisFailure) {
        while outputCount > 0 {
            let count = try output.withUnsafeBufferPointer { (output) throws(RedisFailure) in
                try send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: output[sent...])))
            }
            guard let count else { return }
            sent += count
            if sent > max(1 << 20, output.count / 2) {
                output.removeFirst(sent)
                sent = 0
            }
        }
        output.removeAll(keepingCapacity: output.capacity <= 1 << 20)
        sent = 0
    }

    /// How much the socket has taken; nil when it takes nothing now.
    private func send(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) -> Int? {
        if let tls { return try tls.send(bytes) }
        while true {
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return count }
            if errno == EAGAIN { return nil }
            guard errno == EINTR else { throw Self.lost(Self.text(errno)) }
        }
    }

    /// Takes what has arrived, at most 64 KiB.
    func receive() throws(RedisFailure) {
        let count: Int
        if let tls {
            guard let received = try tls.receive(&input) else { return }
            count = received
        } else {
            count = recv(descriptor, &input, input.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count >= 0 else { throw Self.lost(Self.text(errno)) }
        }
        guard count > 0 else { throw Self.lost("Redis has closed it") }
        let isFed = input.withUnsafeBytes { input in
            redisReaderFeed(reader, input.baseAddress?.assumingMemoryBound(to: CChar.self), count) == REDIS_OK
        }
        guard isFed else { throw Self.lost("there is no memory for a reply") }
    }

    /// The next whole reply that has arrived.
    func next() throws(RedisFailure) -> RedisReply? {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else { throw Self.lost("a reply is malformed") }
        guard let object else { return nil }
        defer { freeReplyObject(object) }
        return RedisReply(object.assumingMemoryBound(to: redisReply.self))
    }

    /// Waits until there is something to do.
    ///
    /// - Parameters:
    ///   - signal: an eventfd, which is reset.
    ///   - receives: whether something to receive is something to do.
    /// - Returns: whether there is something to receive.
    func wait(_ signal: Int32?, until deadline: ContinuousClock.Instant, receives: Bool = true) -> Bool {
        if receives, tls?.hasMore == true { return true }
        let events = (receives ? POLLIN : 0) | (outputCount > 0 ? POLLOUT : 0)
        // Without an event it would still be told of an error, again and again.
        var places = [pollfd(fd: events == 0 ? -1 : descriptor, events: Int16(events), revents: 0)]
        if let signal { places.append(pollfd(fd: signal, events: Int16(POLLIN), revents: 0)) }
        guard Self.wait(&places, until: deadline) else { return false }
        if let signal, places[1].revents != 0 { Self.reset(signal) }
        return receives && places[0].revents & ~Int16(POLLOUT) != 0
    }

    /// Sends commands and waits for their replies, before anything else uses the connection.
    ///
    /// - Parameter toleratesErrors: whether an error of Redis is a reply like others.
    func exchange(
        _ request: RedisRequest, until deadline: ContinuousClock.Instant, toleratesErrors: Bool = false
    ) throws(RedisFailure) -> [RedisReply] {
        var replies: [RedisReply] = []
        write(request.bytes)
        while replies.count < request.count {
            guard ContinuousClock.now < deadline else { throw Self.lost("Redis does not respond") }
            try flush()
            if wait(nil, until: deadline) { try receive() }
            while let reply = try next() {
                if !toleratesErrors, let error = reply.error { throw RedisGreeting.refusal(error, address) }
                replies.append(reply)
            }
        }
        return replies
    }

    static func lost(_ reason: String) -> RedisFailure { RedisFailure("The connection to Redis was lost: \(reason).") }

    static func reset(_ signal: Int32) {
        var count: UInt64 = 0
        _ = read(signal, &count, MemoryLayout<UInt64>.size)
    }

    /// False when nothing has happened until the deadline.
    @discardableResult
    static func wait(_ places: inout [pollfd], until deadline: ContinuousClock.Instant) -> Bool {
        let rest = (deadline - .now) / .milliseconds(1)
        return poll(&places, nfds_t(places.count), Int32(max(0, min(rest.rounded(.up), 60_000)))) > 0
    }
}

/// Wakes a thread that waits in `poll`, alone or with a socket.
final class RedisSignal: Sendable {
    /// An eventfd (`eventfd(2)`).
    let descriptor: Int32

    /// - Throws: ``StoreOpeningError/noThread``.
    init() throws(StoreOpeningError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .noThread }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func wait(until deadline: ContinuousClock.Instant) {
        var places = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if RedisLink.wait(&places, until: deadline) { RedisLink.reset(descriptor) }
    }
}
