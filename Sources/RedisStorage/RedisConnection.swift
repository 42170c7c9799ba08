import CCrypto
import CHiredis
import Glibc
import Sessions
import Storage
import Synchronization
import Threads

/// A connection to Redis that is made again when it is lost, with a thread of its own. Whatever waits is written
/// together; replies are handed out in order, on that thread.
///
/// While the first attempt to connect is under way, requests wait. Once it has failed they are refused until there is a
/// connection again, so none of them waits in vain.
final class RedisConnection: Sendable {
    /// What has become of a request.
    enum Outcome: Sendable {
        /// One for each command.
        case replies([RedisReply])
        /// The connection was lost: it may have been executed.
        case lost(String)
        /// It was not sent, or there was no reply in time.
        case failed(String)

        /// The replies.
        ///
        /// - Throws: ``StoreError``, also when one of them is an error.
        func get() throws(StoreError) -> [RedisReply] {
            switch self {
            case .replies(let replies):
                if let error = replies.lazy.compactMap(\.error).first { throw StoreError(redis: error) }
                return replies
            case .lost(let sentence), .failed(let sentence): throw .unavailable(sentence)
            }
        }
    }

    /// Is given a new connection, the server at its other end, and until when it may take.
    typealias Preparation = @Sendable (RedisLink, RedisAddress, ContinuousClock.Instant) throws(RedisFailure) -> Void

    struct Hooks: Sendable {
        /// Is asked on a new connection and, unless it is one of subscriptions, again and again.
        var pulse: RedisPulse?
        /// Prepares a new connection.
        var prepare: Preparation?
        /// Called when there is a new connection, before anything else is sent.
        var connected: @Sendable () -> Void = {}
        /// Called when an attempt to connect has failed.
        var refused: @Sendable () -> Void = {}
        /// Called with each message's channel, and with that of a subscription that ends because its slot moves.
        var told: @Sendable (_ channel: [UInt8], _ isMoved: Bool) -> Void = { _, _ in }
    }

    struct State {
        /// Not sent yet.
        var queue: [RedisJob] = []
        /// Of requests without a reply.
        var requests = 0
        var bytes = 0
        var wasUp: Bool
        /// Why the last attempt to connect has failed. Requests are refused then.
        var failure: RedisFailure?
        /// When the connection was lost; nil before the first one.
        var lostAt: ContinuousClock.Instant?
        /// When the last pulse was answered, or the connection was made.
        var pulsedAt: ContinuousClock.Instant?
        /// Whether a pulse has no reply yet.
        var isPulsing = false
        /// Why the connection is of no use, as a pulse has shown.
        var pulseFailure: RedisFailure?
        /// Whether the thread waits, and has to be woken.
        var isWaiting = false
        var isClosing = false

        mutating func add(_ job: RedisJob) {
            requests += 1
            bytes += job.request.bytes.count
            queue.append(job)
        }
    }

    let state: Mutex<State>
    /// Reached when its thread has nothing left to do.
    private let end = Completion()
    private let address: RedisAddress
    let settings: RedisStore.Settings
    let signal: RedisSignal
    let sentinels: RedisSentinels?
    let hooks: Hooks
    /// Asked again and again; nil where nothing can be asked.
    let pulse: RedisPulse?
    let writeCount = Atomic<Int>(0)

    /// How often something was written to a socket.
    var writes: Int { writeCount.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - name: of the thread, at most 15 bytes.
    ///   - sentinels: name the server in place of the address.
    ///   - isSubscribed: whether it is for subscriptions.
    ///   - isLater: whether others were there before, so that ``RedisStore/Settings/grace`` holds for the first
    ///     attempts as well.
    /// - Throws: ``StoreOpeningError/noThread``.
    init(
        _ name: String, to address: RedisAddress, settings: RedisStore.Settings = RedisStore.Settings(),
        sentinels: RedisSentinels? = nil, isSubscribed: Bool = false, isLater: Bool = false, hooks: Hooks = Hooks()
    ) throws(StoreOpeningError) {
        self.address = address
        self.settings = settings
        self.sentinels = sentinels
        self.hooks = hooks
        pulse = isSubscribed ? nil : hooks.pulse
        signal = try RedisSignal()
        state = Mutex(State(wasUp: isLater, lostAt: isLater ? .now : nil))
        guard DetachedThread.start(name, { self.run() }) else { throw .noThread }
        sentinels?.remember(signal)
    }

    deinit { sentinels?.forget(signal) }

    /// A sentence while there has been no connection yet, from an attempt that failed until there is one, and while the
    /// server does not respond. What ends within ``RedisStore/Settings/grace`` is no trouble.
    var trouble: String? {
        state.withLock { state in
            if let failure = state.failure {
                if state.lostAt.map({ .now - $0 >= settings.grace }) ?? true { return failure.sentence }
            } else if !state.wasUp {
                return "There is no connection to \(address) yet."
            }
            let most = RedisPulse.interval + max(settings.grace, RedisPulse.patience)
            return state.pulsedAt.flatMap { .now - $0 > most ? "\(address) does not respond." : nil }
        }
    }

    /// Whether the last attempt to connect has failed.
    var isAway: Bool { state.withLock { $0.failure != nil } }

    /// Why Redis refuses us, if no attempt can help that; nil while there is a connection.
    var refusal: String? { state.withLock { $0.failure?.refusal } }

    /// Adds a request to those that wait.
    ///
    /// - Parameters:
    ///   - isBounded: false for what follows from other requests, and was counted with them.
    ///   - done: called once, on the connection's thread. Not called when the request is refused.
    /// - Returns: why the request is refused; `nil` when it was added.
    func append(
        _ request: RedisRequest, isBounded: Bool = true, then done: @escaping @Sendable (Outcome) -> Void
    ) -> String? {
        let job = RedisJob(request: request, deadline: .now + settings.deadline, done: done)
        let (refusal, wakes) = state.withLock { state -> (String?, Bool) in
            if let failure = state.failure { return (failure.sentence, false) }
            if isBounded, state.requests >= settings.requests || state.bytes + request.bytes.count > Self.mostBytes {
                return ("Too many requests wait for Redis.", false)
            }
            state.add(job)
            defer { state.isWaiting = false }
            return (nil, state.isWaiting)
        }
        if wakes { signal.raise() }
        return refusal
    }

    /// Ends the connection when everything that waits is done.
    func close() {
        state.withLock { $0.isClosing = true }
        signal.raise()
    }

    func waitForEnd() async { await end.wait() }

    // MARK: The thread

    private func run() {
        var failures = 0
        var isFirst = true
        while !endIfDone() {
            if !isFirst {
                var random = SystemRandomNumberGenerator()
                signal.wait(until: .now + Self.pause(after: failures, &random))
            }
            isFirst = false
            var since: ContinuousClock.Instant?
            do throws(RedisFailure) {
                let (link, server, belief) = try open()
                since = .now
                try serve(link, server, belief)
            } catch {
                // A connection that is lost at once is as good as none.
                failures = since.map { .now - $0 > .seconds(1) ? 0 : failures + 1 } ?? failures + 1
                if since == nil { refuse(error) }
            }
        }
        // What libcrypto keeps for the thread, which may end when the process no longer cleans up.
        OPENSSL_thread_stop()
        end.reach()
    }

    /// How long to wait before the next attempt. Many may have lost their connections at the same moment, so each waits
    /// for another time, also before the first one.
    static func pause(after failures: Int, _ random: inout some RandomNumberGenerator) -> Duration {
        let most = failures == 0 ? 50 : min(500, 50 << min(failures - 1, 4))
        let least = failures == 0 ? 0 : most / 2
        return .microseconds(Int.random(in: least * 1_000...most * 1_000, using: &random))
    }

    private func open() throws(RedisFailure) -> (RedisLink, RedisAddress, RedisBelief?) {
        let latest = ContinuousClock.now + min(settings.deadline, .seconds(2))
        // What was on the lost connection waits, and not for longer than its deadline.
        let end = min(latest, state.withLock { $0.queue.first?.deadline } ?? latest)
        let master = try sentinels?.master(until: end)
        let server = master.map { address.server(at: $0.place) } ?? address
        let link = try RedisLink(to: server, until: end)
        try RedisGreeting.say(to: link, at: server, until: end)
        // Also for subscriptions: at a former master they would tell nothing.
        try hooks.pulse?.ask(link, of: server, named: master, until: end)
        try hooks.prepare?(link, server, end)
        let waiting = state.withLock { state in
            state.wasUp = true
            state.failure = nil
            state.pulsedAt = pulse == nil ? nil : .now
            defer { state.queue = [] }
            return state.queue
        }
        hooks.connected()
        state.withLock { $0.queue += waiting }
        return (link, server, master.flatMap { master in sentinels.map { RedisBelief(server, master, $0) } })
    }

    func finish(_ jobs: [RedisJob], _ outcome: Outcome) {
        state.withLock { state in
            state.requests -= jobs.count
            for job in jobs { state.bytes -= job.request.bytes.count }
        }
        for job in jobs { job.done(outcome) }
    }

    private func refuse(_ failure: RedisFailure) {
        let jobs = state.withLock { state in
            state.failure = failure
            return exchange(&state.queue, with: [])
        }
        finish(jobs, .failed(failure.sentence))
        hooks.refused()
    }

    func endIfDone() -> Bool {
        state.withLock { state in
            guard state.isClosing, state.queue.isEmpty else { return false }
            state.failure = RedisFailure("The store is closed.")
            state.lostAt = nil
            return true
        }
    }

    /// So many wait at most, beside ``RedisStore/Settings/requests``.
    static let mostBytes = 64 << 20
}
