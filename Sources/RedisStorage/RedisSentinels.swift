import CCrypto
import Glibc
import Storage
import Synchronization
import Threads

/// The sentinels of a store: which server is the master, and whether a server still is.
///
/// A master that was replaced need not know it: it was frozen, or is cut off from its sentinels. So what it replies
/// counts only while sentinels name it.
final class RedisSentinels: Sendable {
    typealias Master = SentinelAnswers.Master
    typealias Standing = SentinelAnswers.Standing

    /// `@unchecked Sendable`: what changes is used with the monitor's lock held.
    private final class Answers: @unchecked Sendable {
        let monitor = Monitor()
        var answers: SentinelAnswers
        /// Connections that wait until it is known whether their server is still the master.
        var waiting: [ObjectIdentifier: RedisSignal] = [:]
        /// All connections.
        var concerned: [ObjectIdentifier: RedisSignal] = [:]

        init(count: Int) { answers = SentinelAnswers(count: count) }

        func note(_ answer: RedisSentinel.Answer, of sentinel: Int, askedAt: ContinuousClock.Instant) {
            let woken = monitor.withLock {
                let isChanged = answers.note(answer, of: sentinel, askedAt: askedAt)
                return Array((isChanged ? concerned : waiting).values)
            }
            for signal in woken { signal.raise() }
            monitor.broadcast()
        }
    }

    private let address: RedisAddress
    private let answers: Answers
    private let sentinels: [RedisSentinel]

    /// - Parameter address: of sentinels.
    /// - Throws: ``StoreOpeningError/noThread``.
    init(_ address: RedisAddress, master: String) throws(StoreOpeningError) {
        self.address = address
        let answers = Answers(count: address.places.count)
        self.answers = answers
        var sentinels: [RedisSentinel] = []
        do throws(StoreOpeningError) {
            for (number, sentinel) in address.sentinels.enumerated() {
                sentinels.append(
                    try RedisSentinel(sentinel, master: master) { answers.note($0, of: number, askedAt: $1) })
            }
        } catch {
            for sentinel in sentinels { sentinel.close() }
            throw error
        }
        self.sentinels = sentinels
    }

    deinit { for sentinel in sentinels { sentinel.close() } }

    func close() async {
        for sentinel in sentinels { sentinel.close() }
        for sentinel in sentinels { await sentinel.waitForEnd() }
    }

    /// Has all of them asked at once.
    func wake() { for sentinel in sentinels { sentinel.wake() } }

    /// The present master. Waits until enough sentinels have answered, or have not in time.
    func master(until deadline: ContinuousClock.Instant) throws(RedisFailure) -> Master {
        let latest = min(deadline, .now + SentinelAnswers.validity)
        wake()
        let (master, failure) = answers.monitor.withLock {
            while !answers.answers.isComplete(at: .now), .now < latest {
                _ = answers.monitor.wait(until: Monitor.deadline(after: latest - .now))
            }
            return (answers.answers.master, answers.answers.failure)
        }
        if let master { return master }
        guard case .sentinels(let name) = address.kind else { throw RedisFailure("\(address) has no sentinels.") }
        throw RedisFailure(
            "No sentinel names a master \"\(name)\" that responds."
                + (failure.map { " The last reason: \($0.sentence)" } ?? ""),
            isPermanent: failure?.isPermanent ?? false)
    }

    /// - Parameter start: see ``SentinelAnswers/standing(of:at:since:)``.
    func standing(of server: Master, since start: ContinuousClock.Instant?) -> Standing {
        answers.monitor.withLock { answers.answers.standing(of: server, at: .now, since: start) }
    }

    /// - Parameter signal: is raised when the master has changed, until ``forget(_:)``.
    func remember(_ signal: RedisSignal) {
        answers.monitor.withLock { answers.concerned[ObjectIdentifier(signal)] = signal }
    }

    func forget(_ signal: RedisSignal) {
        answers.monitor.withLock {
            answers.concerned[ObjectIdentifier(signal)] = nil
            answers.waiting[ObjectIdentifier(signal)] = nil
        }
    }

    /// - Parameter signal: is raised with each answer while that is so.
    func await(_ isWaiting: Bool, _ signal: RedisSignal) {
        answers.monitor.withLock { answers.waiting[ObjectIdentifier(signal)] = isWaiting ? signal : nil }
        if isWaiting { wake() }
    }
}

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
