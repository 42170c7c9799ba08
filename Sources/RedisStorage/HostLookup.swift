import Glibc
import Storage
import Synchronization
import Threads

/// The socket addresses of a host, or a failure by a deadline.
///
/// `getaddrinfo(3)` waits for name servers as long as `resolv.conf(5)` says, often for tens of seconds. So it has a
/// thread of its own, which may outlive the question.
enum HostLookup {
    struct Place: Sendable, Equatable {
        let family: Int32
        /// A `sockaddr` of that family.
        let address: [UInt8]
    }

    /// What `getaddrinfo(3)` says: the reason is its text.
    typealias Answer = Result<[Place], Reason>

    struct Reason: Error, Sendable, Equatable {
        let text: String
    }

    /// - Parameter ask: blocks as long as it likes.
    static func places(
        of host: String, port: UInt16, until deadline: ContinuousClock.Instant,
        asking ask: @escaping @Sendable (_ host: String, _ port: UInt16) -> Answer = { answer(to: $0, $1) }
    ) throws(Reason) -> [Place] {
        if case .success(let places) = answer(to: host, port, flags: AI_NUMERICHOST) { return places }
        guard let pending = try? Pending() else { throw Reason(text: "no descriptor is left") }
        let isAsking = DetachedThread.start("resolve host", isAwaited: false) {
            let answer = ask(host, port)
            pending.answer.withLock { $0 = answer }
            pending.signal.raise()
        }
        guard isAsking else { throw Reason(text: "no thread can be started") }
        pending.signal.wait(until: deadline)
        guard let answer = pending.answer.withLock(\.self) else {
            throw Reason(text: "no name server responds")
        }
        return try answer.get()
    }

    private final class Pending: Sendable {
        let answer = Mutex<Answer?>(nil)
        let signal: RedisSignal

        init() throws(StoreOpeningError) { signal = try RedisSignal() }
    }

    private static func answer(to host: String, _ port: UInt16, flags: Int32 = 0) -> Answer {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0 else { return .failure(Reason(text: String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(found) }
        let all = sequence(first: found) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { $0?.pointee }
        return .success(
            all.map { place in
                Place(
                    family: place.ai_family,
                    address: Array(UnsafeRawBufferPointer(start: place.ai_addr, count: Int(place.ai_addrlen))))
            })
    }
}
