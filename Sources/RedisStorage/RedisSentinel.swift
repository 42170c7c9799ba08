import CCrypto
import Glibc
import Storage
import Synchronization
import Threads

/// Asks one sentinel where the master is, twice a second, and at once when the sentinel says that it has changed.
///
/// It has a thread of its own: a sentinel that does not respond delays no other.
final class RedisSentinel: Sendable {
    typealias Answer = Result<SentinelAnswers.Master, RedisFailure>

    private let address: RedisAddress
    private let master: String
    private let signal: RedisSignal
    private let isClosing = Atomic(false)
    private let end = Completion()

    /// - Parameters:
    ///   - master: its name.
    ///   - told: is called with each answer, and when it was asked for.
    /// - Throws: ``StoreOpeningError/noThread``.
    init(
        _ address: RedisAddress, master: String,
        told: @escaping @Sendable (Answer, ContinuousClock.Instant) -> Void
    ) throws(StoreOpeningError) {
        self.address = address
        self.master = master
        signal = try RedisSignal()
        guard DetachedThread.start("store sentinel", { self.run(told) }) else { throw .noThread }
    }

    /// Has it ask soon, though not more often than each ``pause``.
    func wake() { signal.raise() }

    func close() {
        isClosing.store(true, ordering: .releasing)
        signal.raise()
    }

    func waitForEnd() async { await end.wait() }

    // MARK: The thread

    private var isOver: Bool { isClosing.load(ordering: .acquiring) }

    private func run(_ told: (Answer, ContinuousClock.Instant) -> Void) {
        while !isOver {
            var askedAt = ContinuousClock.now
            do throws(RedisFailure) {
                let link = try RedisLink(to: address, until: askedAt + Self.patience)
                if address.password != nil { try greet(link) }
                while !isOver {
                    told(.success(try ask(link)), askedAt)
                    try rest(link, since: askedAt)
                    askedAt = .now
                }
            } catch {
                told(.failure(error), askedAt)
                pause(since: askedAt)
                if !isOver { signal.wait(until: askedAt + Self.interval) }
            }
        }
        // What libcrypto keeps for the thread.
        OPENSSL_thread_stop()
        end.reach()
    }

    private func greet(_ link: RedisLink) throws(RedisFailure) {
        let replies = try link.exchange(address.greeting, until: .now + Self.patience, toleratesErrors: true)
        if let error = replies.lazy.compactMap(\.error).first { throw refusal(error) }
    }

    private func refusal(_ error: String) -> RedisFailure {
        RedisGreeting.refusal(error, address, passwordFile: "redis_sentinel_password_file")
    }

    /// On one connection: while a client is subscribed it may ask nothing, so each question takes the subscription back
    /// and renews it. The sentinel executes all of it at once, so no message is missed.
    private func ask(_ link: RedisLink) throws(RedisFailure) -> SentinelAnswers.Master {
        var request = RedisRequest("UNSUBSCRIBE")
        request.add("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .text(master))
        request.add("SENTINEL", "MASTER", .text(master))
        request.add("SUBSCRIBE", "+switch-master")
        let replies = try link.exchange(request, until: .now + Self.patience, toleratesErrors: true)
        if let error = replies[1].error { throw refusal(error) }
        guard let host = replies[1][0].text, let port = replies[1][1].number.flatMap(UInt16.init(exactly:)) else {
            throw RedisFailure("The sentinel at \(address) knows no master \"\(master)\".")
        }
        // Without the right to see more, there is no epoch; without the one to subscribe, there are no messages.
        let details = replies[2].list
        let place = details.firstIndex { $0.text == "config-epoch" }
        return SentinelAnswers.Master(
            place: RedisAddress.Place(host: host, port: port),
            epoch: place.flatMap { replies[2][$0 + 1].number } ?? -1, source: address.places[0])
    }

    /// Until it is time for the next question, or there is a reason for one.
    private func rest(_ link: RedisLink, since askedAt: ContinuousClock.Instant) throws(RedisFailure) {
        pause(since: askedAt)
        if link.wait(signal.descriptor, until: askedAt + Self.interval) {
            try link.receive()
            // A message, which says no more than the next answer.
            while try link.next() != nil {}
        }
    }

    /// What many ask for at once is one question.
    private func pause(since askedAt: ContinuousClock.Instant) {
        let rest = Self.pause - (.now - askedAt)
        if rest > .zero, !isOver { usleep(UInt32(rest / .microseconds(1))) }
    }

    /// The most time for connecting, and for an answer.
    private static let patience = Duration.milliseconds(500)
    private static let interval = Duration.milliseconds(500)
    private static let pause = Duration.milliseconds(20)
}
