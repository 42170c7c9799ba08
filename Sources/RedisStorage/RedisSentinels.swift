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
