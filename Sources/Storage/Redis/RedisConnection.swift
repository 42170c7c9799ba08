import CCrypto
import CHiredis
import Glibc
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
    }

    /// Is given a new connection, the server at its other end, and until when it may take.
    typealias Preparation = @Sendable (RedisLink, RedisAddress, ContinuousClock.Instant) throws(RedisFailure) -> Void

    struct Limits: Sendable {
        /// How long a request may wait for its reply, and the most that connecting may take.
        var deadline = Duration.seconds(5)
        var requests = 100_000
        var bytes = 64 << 20
        /// How many replicas must have what a request changes that needs replicas.
        var replicas = 0
        /// How long a connection may be away, after it was there, before that is ``RedisConnection/trouble``.
        var grace = Duration.zero
    }

    private struct Job {
        var request: RedisRequest
        let deadline: ContinuousClock.Instant
        let done: @Sendable (Outcome) -> Void
        /// Whether it is the `WAIT` behind others.
        var isWait = false
    }

    private struct State {
        /// Not sent yet.
        var queue: [Job] = []
        /// Of requests without a reply.
        var requests = 0
        var bytes = 0
        var wasUp = false
        /// Set by a failed attempt, until there is a connection.
        var isRefusing = false
        var trouble: String?
        /// When the connection was lost; nil before the first one.
        var lostAt: ContinuousClock.Instant?
        /// Of the last attempt, if it failed for a reason that no other attempt changes.
        var refusal: String?
        /// Whether the thread waits, and has to be woken.
        var isWaiting = false
        var isClosing = false
        var isEnded = false
    }

    private let state: Mutex<State>
    /// Reached when its thread has nothing left to do.
    private let end = Completion()
    private let address: RedisAddress
    private let limits: Limits
    private let signal: RedisSignal
    /// Prepares a new connection.
    private let prepare: Preparation?
    /// Called when there is a new connection, before anything else is sent.
    private let connected: @Sendable () -> Void
    /// Called when an attempt to connect has failed.
    private let refused: @Sendable () -> Void
    /// Called with each message's channel, and with that of a subscription that ends because its slot moves.
    private let told: @Sendable (_ channel: [UInt8], _ isMoved: Bool) -> Void
    private let writeCount = Atomic<Int>(0)

    /// How often something was written to a socket.
    var writes: Int { writeCount.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - name: of the thread, at most 15 bytes.
    ///   - isLater: whether others were there before, so that ``Limits/grace`` holds for the first attempts as well.
    /// - Throws: ``StoreOpeningError/noThread``.
    init(
        _ name: String, to address: RedisAddress, limits: Limits = Limits(), isLater: Bool = false,
        prepare: Preparation? = nil,
        connected: @escaping @Sendable () -> Void = {}, refused: @escaping @Sendable () -> Void = {},
        told: @escaping @Sendable ([UInt8], Bool) -> Void = { _, _ in }
    ) throws(StoreOpeningError) {
        self.address = address
        self.limits = limits
        self.prepare = prepare
        self.connected = connected
        self.refused = refused
        self.told = told
        signal = try RedisSignal()
        state = Mutex(
            State(
                wasUp: isLater, trouble: "There is no connection to \(address) yet.", lostAt: isLater ? .now : nil))
        guard DetachedThread.start(name, { self.run() }) else { throw .noThread }
    }

    /// A sentence while there has been no connection yet, and from an attempt that failed until there is one. A
    /// connection that is lost and made again within ``Limits/grace`` is no trouble.
    var trouble: String? { state.withLock { isInTrouble($0) || !$0.wasUp ? $0.trouble : nil } }

    /// Whether the last attempt to connect has failed.
    var isAway: Bool { state.withLock(\.isRefusing) }

    /// Why Redis refuses us, if no attempt can help that; nil while there is a connection.
    var refusal: String? { state.withLock(\.refusal) }

    private func isInTrouble(_ state: State) -> Bool {
        state.isRefusing && (state.lostAt.map { .now - $0 >= limits.grace } ?? true)
    }

    /// Adds a request to those that wait.
    ///
    /// - Parameters:
    ///   - isBounded: false for what follows from other requests, and was counted with them.
    ///   - done: called once, on the connection's thread. Not called when the request is refused.
    /// - Returns: why the request is refused; `nil` when it was added.
    func append(
        _ request: RedisRequest, isBounded: Bool = true, then done: @escaping @Sendable (Outcome) -> Void
    ) -> String? {
        let job = Job(request: request, deadline: .now + limits.deadline, done: done)
        let (refusal, wakes) = state.withLock { state -> (String?, Bool) in
            if state.isEnded { return ("The store is closed.", false) }
            if state.isRefusing { return (state.trouble, false) }
            if isBounded, state.requests >= limits.requests || state.bytes + request.bytes.count > limits.bytes {
                return ("Too many requests wait for Redis.", false)
            }
            state.requests += 1
            state.bytes += request.bytes.count
            state.queue.append(job)
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
                let link = try open()
                since = .now
                try serve(link)
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

    private func open() throws(RedisFailure) -> RedisLink {
        let latest = ContinuousClock.now + min(limits.deadline, .seconds(2))
        // What was on the lost connection waits, and not for longer than its deadline.
        let end = min(latest, state.withLock { $0.queue.first?.deadline } ?? latest)
        let server = try address.master(until: end)
        let link = try RedisLink(to: server, until: end)
        try RedisGreeting.say(to: link, at: server, until: end)
        try prepare?(link, server, end)
        let waiting = state.withLock { state in
            state.wasUp = true
            state.isRefusing = false
            state.refusal = nil
            defer { state.queue = [] }
            return state.queue
        }
        connected()
        state.withLock { $0.queue += waiting }
        return link
    }

    /// Sends and receives until the connection is lost, or closed because everything is done.
    private func serve(_ link: RedisLink) throws(RedisFailure) {
        var flight = Flight(replicas: limits.replicas)
        var lastReply = ContinuousClock.now
        do throws(RedisFailure) {
            while true {
                if link.outputCount < Self.mostOutput {
                    letMoreCome()
                    let now = ContinuousClock.now
                    var needsReplicas = false
                    for job in state.withLock({ state in exchange(&state.queue, with: []) }) {
                        guard job.deadline > now else {
                            release([job])
                            job.done(.failed("The request waited too long for a connection to Redis."))
                            continue
                        }
                        link.write(job.request.bytes)
                        flight.append(job)
                        needsReplicas = needsReplicas || job.request.needsReplicas
                    }
                    if needsReplicas, limits.replicas > 0 { wait(link, &flight) }
                }
                if link.outputCount > 0 {
                    writeCount.wrappingAdd(1, ordering: .relaxed)
                    try link.flush()
                }
                if flight.isEmpty, endIfDone() { return }
                let now = ContinuousClock.now
                if let first = flight.first, first.deadline <= now {
                    flight.isOverdue = true
                    throw RedisLink.lost("Redis does not respond in time")
                }
                if flight.isEmpty, now - lastReply > Self.heartbeat {
                    _ = append(RedisRequest("PING"), isBounded: false) { _ in }
                }
                let mayWait = state.withLock { state in
                    state.isWaiting = state.queue.isEmpty || link.outputCount >= Self.mostOutput
                    return state.isWaiting
                }
                let end = mayWait ? flight.first?.deadline ?? now + Self.heartbeat : now
                guard link.wait(signal.descriptor, until: end) else { continue }
                try link.receive()
                while let reply = try link.next() {
                    lastReply = .now
                    try take(reply, &flight)
                }
            }
        } catch {
            lose(flight, error.sentence)
            throw error
        }
    }

    /// Lets other threads run as long as they bring more requests, which are then written with the first ones.
    private func letMoreCome() {
        var (seen, count) = (0, state.withLock { $0.queue.count })
        while seen < count, count < Self.enough {
            seen = count
            sched_yield()
            count = state.withLock { $0.queue.count }
        }
    }

    /// Holds the outcomes of what was written until replicas have it. Redis serves nothing else on the connection
    /// meanwhile, so that takes a second at the most.
    private func wait(_ link: RedisLink, _ flight: inout Flight) {
        let most = min(limits.deadline / 2, .seconds(1)) / .milliseconds(1)
        let request = RedisRequest("WAIT", .text(String(limits.replicas)), .text(String(Int(most))))
        link.write(request.bytes)
        flight.append(Job(request: request, deadline: .now + limits.deadline, done: { _ in }, isWait: true))
    }

    private func take(_ reply: RedisReply, _ flight: inout Flight) throws(RedisFailure) {
        if reply.list.count == 3, let kind = reply[0].text, let channel = reply[1].bytes {
            if kind == "smessage" { return told(channel, false) }
            // It is a reply if it was requested.
            if kind == "sunsubscribe", flight.first?.request.bytes != RedisRequest.unsubscribe(channel).bytes {
                return told(channel, true)
            }
        }
        // The next connection loads the scripts, and is to the master. Until then it is not known what else is missing.
        if let error = reply.error, Self.ends.contains(where: error.hasPrefix) {
            throw RedisLink.lost("Redis says \(error)")
        }
        for (job, outcome) in try flight.add(reply) where !job.isWait {
            release([job])
            job.done(outcome)
        }
    }

    private static let ends = ["NOSCRIPT", "READONLY", "LOADING", "MASTERDOWN", "UNBLOCKED"]

    private func release(_ jobs: [Job]) {
        state.withLock { state in
            state.requests -= jobs.count
            for job in jobs { state.bytes -= job.request.bytes.count }
        }
    }

    private func lose(_ flight: Flight, _ sentence: String) {
        var again: [Job] = []
        var lost: [Job] = []
        for var job in flight.jobs where !job.isWait {
            if job.request.isRepeatable, !flight.isOverdue {
                job.request.isRepeatable = false
                again.append(job)
            } else {
                lost.append(job)
            }
        }
        state.withLock { state in
            state.queue = again + state.queue
            state.lostAt = .now
            // The next attempt is not made earlier because something waits for it.
            state.isWaiting = false
        }
        RedisLink.reset(signal.descriptor)
        release(lost)
        for job in lost { job.done(flight.isOverdue ? .failed(sentence) : .lost(sentence)) }
    }

    private func refuse(_ failure: RedisFailure) {
        let sentence = failure.sentence
        let jobs = state.withLock { state in
            state.isRefusing = true
            state.trouble = sentence
            state.refusal = failure.isPermanent ? sentence : nil
            return exchange(&state.queue, with: [])
        }
        release(jobs)
        for job in jobs { job.done(.failed(sentence)) }
        refused()
    }

    private func endIfDone() -> Bool {
        state.withLock { state in
            guard state.isClosing, state.queue.isEmpty else { return false }
            state.isEnded = true
            state.isRefusing = true
            state.lostAt = nil
            state.trouble = "The store is closed."
            return true
        }
    }

    /// No more is taken from the queue while so many bytes wait for the socket.
    private static let mostOutput = 1 << 20
    /// So many requests are worth a system call.
    private static let enough = 32
    /// An idle connection is tried after that time.
    private static let heartbeat = Duration.seconds(5)

    /// Requests that were sent, in order.
    private struct Flight {
        let replicas: Int
        private var all: [Job] = []
        private var place = 0
        /// Of the first.
        private var replies: [RedisReply] = []
        /// Requests that were executed and wait for replicas, and what came after them.
        private var held: [(job: Job, replies: [RedisReply])] = []
        var isOverdue = false

        init(replicas: Int) { self.replicas = replicas }

        var isEmpty: Bool { place == all.count }
        var first: Job? { isEmpty ? nil : all[place] }
        /// Those without an outcome.
        var jobs: [Job] { held.map(\.job) + all[place...] }

        mutating func append(_ job: Job) { all.append(job) }

        /// Returns the requests whose outcome is known by this reply.
        mutating func add(_ reply: RedisReply) throws(RedisFailure) -> [(job: Job, outcome: Outcome)] {
            guard let job = first else { throw RedisLink.lost("Redis sent an unexpected reply") }
            replies.append(reply)
            guard replies.count == job.request.count else { return [] }
            place += 1
            if place * 2 > all.count {
                all.removeFirst(place)
                place = 0
            }
            let replies = exchange(&replies, with: [])
            if job.isWait {
                guard let count = replies[0].number else { throw RedisLink.lost("Redis does not wait for replicas") }
                return exchange(&held, with: []).map { ($0.job, outcome($0.job, $0.replies, count)) }
            }
            guard held.isEmpty, replicas == 0 || !job.request.needsReplicas else {
                held.append((job, replies))
                return []
            }
            return [(job, .replies(replies))]
        }

        private func outcome(_ job: Job, _ replies: [RedisReply], _ count: Int64) -> Outcome {
            // What Redis refused is nowhere.
            guard count < replicas, job.request.needsReplicas, replies.contains(where: { $0.error == nil }) else {
                return .replies(replies)
            }
            return .failed("Only \(count) of \(replicas) replicas confirmed the write in time. It may be stored.")
        }
    }
}
