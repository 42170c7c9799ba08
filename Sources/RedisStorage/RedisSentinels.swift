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

    private let name: String
    private let answers: RedisAnswers
    private let sentinels: [RedisSentinel]

    /// - Parameters:
    ///   - address: of sentinels.
    ///   - name: of the master.
    /// - Throws: ``StoreOpeningError/noThread``.
    init(_ address: RedisAddress, master name: String) throws(StoreOpeningError) {
        self.name = name
        answers = RedisAnswers(count: address.places.count)
        var sentinels: [RedisSentinel] = []
        do throws(StoreOpeningError) {
            for (number, sentinel) in address.sentinels.enumerated() {
                sentinels.append(try RedisSentinel(sentinel, number, master: name, answers))
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
        for sentinel in sentinels { await sentinel.end.wait() }
    }

    /// Has all of them asked at once.
    func wake() { for sentinel in sentinels { sentinel.signal.raise() } }

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
        throw RedisFailure(
            "No sentinel names a master \"\(name)\" that responds."
                + (failure.map { " The last reason: \($0.sentence)" } ?? ""),
            isPermanent: failure?.isPermanent ?? false)
    }

    /// - Parameter start: see ``SentinelAnswers/standing(of:at:since:)``.
    func standing(of server: Master, since start: ContinuousClock.Instant?) -> SentinelAnswers.Standing {
        answers.monitor.withLock { answers.answers.standing(of: server, at: .now, since: start) }
    }

    /// - Parameter signal: is raised with each answer, until ``forget(_:)``.
    func remember(_ signal: RedisSignal) {
        answers.monitor.withLock { answers.signals[ObjectIdentifier(signal)] = signal }
    }

    func forget(_ signal: RedisSignal) {
        answers.monitor.withLock { answers.signals[ObjectIdentifier(signal)] = nil }
    }
}

/// Whether what a server replies counts. While that is not known, replies stay where they are.
struct RedisBelief {
    private let server: RedisAddress
    private let master: SentinelAnswers.Master
    private let sentinels: RedisSentinels
    /// Since when sentinels are asked.
    private var heldSince: ContinuousClock.Instant?
    private var confirmedAt = ContinuousClock.now

    init(_ server: RedisAddress, _ master: SentinelAnswers.Master, _ sentinels: RedisSentinels) {
        (self.server, self.master, self.sentinels) = (server, master, sentinels)
    }

    var isHeld: Bool { heldSince != nil }

    /// Whether a reply that arrives counts. One that comes late, from a server that may have been frozen and replaced
    /// meanwhile, counts only by a new answer of the sentinels.
    ///
    /// - Throws: ``RedisFailure`` when the server was replaced.
    mutating func takes(
        _ arrival: ContinuousClock.Instant, sentAt: ContinuousClock.Instant
    ) throws(RedisFailure) -> Bool {
        let isLate = arrival - sentAt > RedisPulse.patience && arrival - confirmedAt >= Self.lateWindow
        if try isBelieved(since: isLate ? arrival : nil) { return true }
        heldSince = arrival
        sentinels.wake()
        return false
    }

    /// Looks at what the sentinels say now.
    ///
    /// - Throws: ``RedisFailure`` when the server was replaced.
    mutating func look() throws(RedisFailure) {
        let isBelieved = try isBelieved(since: heldSince)
        guard isHeld else { return }
        if isBelieved { (heldSince, confirmedAt) = (nil, .now) } else { sentinels.wake() }
    }

    private func isBelieved(since start: ContinuousClock.Instant?) throws(RedisFailure) -> Bool {
        switch sentinels.standing(of: master, since: start) {
        case .believed: return true
        case .doubtful: return false
        case .replaced(let other): throw RedisLink.lost("\(server) is not the master any more, \(other) is")
        }
    }

    /// For how long late replies are taken after the sentinels have confirmed one.
    private static let lateWindow = Duration.milliseconds(250)
}

/// What sentinels have answered, and the connections that are told of it.
///
/// `@unchecked Sendable`: what changes is used with the monitor's lock held.
private final class RedisAnswers: @unchecked Sendable {
    let monitor = Monitor()
    var answers: SentinelAnswers
    var signals: [ObjectIdentifier: RedisSignal] = [:]

    init(count: Int) { answers = SentinelAnswers(count: count) }

    func note(
        _ answer: Result<SentinelAnswers.Master, RedisFailure>, of number: Int, askedAt: ContinuousClock.Instant
    ) {
        let woken = monitor.withLock {
            answers.note(answer, of: number, askedAt: askedAt) ? signals : [:]
        }
        for signal in woken.values { signal.raise() }
        monitor.broadcast()
    }
}

/// Asks one sentinel where the master is, twice a second, and at once when its signal is raised.
///
/// It has a thread of its own: a sentinel that does not respond delays no other.
private final class RedisSentinel: Sendable {
    private let address: RedisAddress
    private let master: String
    let signal: RedisSignal
    private let isClosing = Atomic(false)
    let end = Completion()

    /// - Parameters:
    ///   - master: its name.
    ///   - answers: get what the sentinel says, as that of this number.
    /// - Throws: ``StoreOpeningError/noThread``.
    init(
        _ address: RedisAddress, _ number: Int, master: String, _ answers: RedisAnswers
    ) throws(StoreOpeningError) {
        self.address = address
        self.master = master
        signal = try RedisSignal()
        let isStarted = DetachedThread.start("store sentinel") {
            self.run { answers.note($0, of: number, askedAt: $1) }
        }
        if !isStarted { throw .noThread }
    }

    func close() {
        isClosing.store(true, ordering: .releasing)
        signal.raise()
    }

    // MARK: The thread

    private func run(_ told: (Result<SentinelAnswers.Master, RedisFailure>, ContinuousClock.Instant) -> Void) {
        var link: RedisLink?
        while !isClosing.load(ordering: .acquiring) {
            let askedAt = ContinuousClock.now
            do throws(RedisFailure) {
                if link == nil { link = try connect() }
                if let link { told(.success(try ask(link)), askedAt) }
            } catch {
                link = nil
                told(.failure(error), askedAt)
            }
            // What many ask for at once is one question.
            usleep(20_000)
            signal.wait(until: askedAt + Self.interval)
        }
        // What libcrypto keeps for the thread.
        OPENSSL_thread_stop()
        end.reach()
    }

    private func connect() throws(RedisFailure) -> RedisLink {
        let end = ContinuousClock.now + Self.patience
        let link = try RedisLink(to: address, until: end)
        _ = try link.exchange(address.greeting, until: end)
        return link
    }

    private func ask(_ link: RedisLink) throws(RedisFailure) -> SentinelAnswers.Master {
        var request = RedisRequest("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .text(master))
        request.add("SENTINEL", "MASTER", .text(master))
        let replies = try link.exchange(request, until: .now + Self.patience, toleratesErrors: true)
        if let error = replies[0].error { throw RedisGreeting.refusal(error, address) }
        guard let host = replies[0][0].text, let port = replies[0][1].number.flatMap(UInt16.init(exactly:)) else {
            throw RedisFailure("The sentinel at \(address) knows no master \"\(master)\".")
        }
        // Without the right to see more, there is no epoch.
        let epoch = replies[1].pairs.first { $0.name == "config-epoch" }?.value.number
        return SentinelAnswers.Master(
            place: RedisAddress.Place(host: host, port: port), epoch: epoch ?? -1, source: address.places[0])
    }

    /// The most time for connecting, and for an answer.
    private static let patience = Duration.milliseconds(500)
    private static let interval = Duration.milliseconds(500)
}
