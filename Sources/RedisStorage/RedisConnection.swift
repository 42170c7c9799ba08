import CCrypto
import CHiredis
import Glibc
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
        var kind = Kind.request

        enum Kind {
            case request
            /// The `WAIT` behind others.
            case wait
            /// What ``RedisConnection/pulse`` asks; since when.
            case pulse(RedisTime.Reading, ContinuousClock.Instant)
        }

        var isOwn: Bool { if case .request = kind { false } else { true } }
        var isWait: Bool { if case .wait = kind { true } else { false } }
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
        /// Why requests are refused although there is a connection, and since when.
        var doubt: (sentence: String, since: ContinuousClock.Instant)?
        /// When the last pulse was answered, or the connection was made.
        var pulsedAt: ContinuousClock.Instant?
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
    private let sentinels: RedisSentinels?
    private let pulse: RedisPulse?
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
    ///   - sentinels: name the server in place of the address.
    ///   - pulse: is asked again and again; nil for a connection of subscriptions, on which nothing can be asked.
    ///   - isLater: whether others were there before, so that ``Limits/grace`` holds for the first attempts as well.
    /// - Throws: ``StoreOpeningError/noThread``.
    init(
        _ name: String, to address: RedisAddress, limits: Limits = Limits(), sentinels: RedisSentinels? = nil,
        pulse: RedisPulse? = nil, isLater: Bool = false, prepare: Preparation? = nil,
        connected: @escaping @Sendable () -> Void = {}, refused: @escaping @Sendable () -> Void = {},
        told: @escaping @Sendable ([UInt8], Bool) -> Void = { _, _ in }
    ) throws(StoreOpeningError) {
        self.address = address
        self.limits = limits
        self.sentinels = sentinels
        self.pulse = pulse
        self.prepare = prepare
        self.connected = connected
        self.refused = refused
        self.told = told
        signal = try RedisSignal()
        state = Mutex(
            State(
                wasUp: isLater, trouble: "There is no connection to \(address) yet.", lostAt: isLater ? .now : nil))
        guard DetachedThread.start(name, { self.run() }) else { throw .noThread }
        sentinels?.remember(signal)
    }

    deinit { sentinels?.forget(signal) }

    /// A sentence while there has been no connection yet, from an attempt that failed until there is one, and while the
    /// server does not respond, or nothing may be sent to it. What ends within ``Limits/grace`` is no trouble.
    var trouble: String? {
        state.withLock { state in
            if isInTrouble(state) || !state.wasUp { return state.trouble }
            if let doubt = state.doubt, .now - doubt.since >= limits.grace { return doubt.sentence }
            let most = RedisPulse.interval + max(limits.grace, RedisPulse.patience)
            guard let pulsedAt = state.pulsedAt, .now - pulsedAt > most, !state.isEnded else { return nil }
            return "\(address) does not respond."
        }
    }

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
            if let doubt = state.doubt { return (doubt.sentence, false) }
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
                let (link, server) = try open()
                since = .now
                try serve(link, server)
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

    /// The server at the other end.
    private struct Server {
        let address: RedisAddress
        /// As the sentinels have named it.
        let master: SentinelAnswers.Master?
    }

    private func open() throws(RedisFailure) -> (RedisLink, Server) {
        let latest = ContinuousClock.now + min(limits.deadline, .seconds(2))
        // What was on the lost connection waits, and not for longer than its deadline.
        let end = min(latest, state.withLock { $0.queue.first?.deadline } ?? latest)
        let master = try sentinels?.master(until: end)
        let server = master.map { address.server(at: $0.place) } ?? address
        let link = try RedisLink(to: server, until: end)
        try RedisGreeting.say(to: link, at: server, until: end)
        let doubt = try firstPulse(link, Server(address: server, master: master), until: end)
        try prepare?(link, server, end)
        let waiting = state.withLock { state in
            state.wasUp = true
            state.doubt = doubt.map { ($0, .now) }
            state.pulsedAt = pulse == nil ? nil : .now
            state.isRefusing = false
            state.refusal = nil
            defer { state.queue = [] }
            return state.queue
        }
        connected()
        if let doubt {
            release(waiting)
            for job in waiting { job.done(.failed(doubt)) }
        } else {
            state.withLock { $0.queue += waiting }
        }
        return (link, Server(address: server, master: master))
    }

    /// - Returns: why no request may be sent.
    private func firstPulse(
        _ link: RedisLink, _ server: Server, until end: ContinuousClock.Instant
    ) throws(RedisFailure) -> String? {
        guard let pulse else {
            // Subscriptions at a former master would tell nothing.
            guard let master = server.master else { return nil }
            let role = try link.exchange(RedisRequest("ROLE"), until: end)[0]
            guard role[0].text != "master" else { return nil }
            throw Self.noMaster(server.address, master)
        }
        let start = pulse.time.read()
        let replies = try link.exchange(RedisPulse.request, until: end, toleratesErrors: true)
        if let master = server.master, replies[0].error == nil, replies[0][0].text != "master" {
            throw Self.noMaster(server.address, master)
        }
        let doubt = try pulse.judge(replies, of: server.address, since: start, node: node)
        pulse.done()
        return doubt
    }

    private static func noMaster(_ server: RedisAddress, _ master: SentinelAnswers.Master) -> RedisFailure {
        RedisFailure("\(server), which the sentinel at \(master.source) names, is not a master.")
    }

    /// Of a cluster, whose nodes each have a connection.
    private var node: RedisAddress.Place? { pulse?.needsMaster == false ? address.places[0] : nil }

    /// Sends and receives until the connection is lost, or closed because everything is done.
    private func serve(_ link: RedisLink, _ server: Server) throws(RedisFailure) {
        var flight = Flight(replicas: limits.replicas)
        var lastReply = ContinuousClock.now
        var nextPulse = lastReply + RedisPulse.interval
        // While sentinels are asked, replies stay where they are.
        var heldSince: ContinuousClock.Instant?
        var confirmedAt = lastReply
        do throws(RedisFailure) {
            while true {
                if let since = heldSince, try belief(in: server, since: since) {
                    heldSince = nil
                    confirmedAt = .now
                }
                if link.outputCount < Self.mostOutput { write(to: link, &flight, &nextPulse) }
                if link.outputCount > 0 {
                    writeCount.wrappingAdd(1, ordering: .relaxed)
                    try link.flush()
                }
                if flight.isIdle, endIfDone() { return }
                if let first = flight.first, first.deadline <= .now {
                    flight.isOverdue = true
                    throw RedisLink.lost("Redis does not respond in time")
                }
                if pulse == nil, flight.isEmpty, .now - lastReply > Self.heartbeat {
                    _ = append(RedisRequest("PING"), isBounded: false) { _ in }
                }
                guard wait(for: link, flight, nextPulse, isHeld: heldSince != nil) else {
                    // Sentinels may have woken it.
                    if heldSince == nil { _ = try standing(of: server, since: nil) }
                    continue
                }
                let arrival = ContinuousClock.now
                let isProven = arrival - confirmedAt < Self.lateWindow || !isLate(flight, at: arrival)
                guard try belief(in: server, since: isProven ? nil : arrival) else {
                    heldSince = arrival
                    continue
                }
                try link.receive()
                while let reply = try link.next() { try take(reply, &flight, from: server) }
                lastReply = arrival
            }
        } catch {
            sentinels?.await(false, signal)
            lose(flight, error.sentence)
            throw error
        }
    }

    /// Writes all that waits, and a pulse if one is due.
    private func write(to link: RedisLink, _ flight: inout Flight, _ nextPulse: inout ContinuousClock.Instant) {
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
            needsReplicas = needsReplicas || job.request.needsReplicas
            flight.append(job)
        }
        if needsReplicas, limits.replicas > 0 { wait(link, &flight) }
        if let pulse, nextPulse <= now, !flight.hasPulse {
            link.write(RedisPulse.request.bytes)
            flight.append(
                Job(
                    request: RedisPulse.request, deadline: now + limits.deadline, done: { _ in },
                    kind: .pulse(pulse.time.read(), now)))
            nextPulse = now + RedisPulse.interval
        }
    }

    /// Waits until there is something to do.
    ///
    /// - Parameter isHeld: whether replies stay where they are.
    /// - Returns: whether there is something to receive.
    private func wait(
        for link: RedisLink, _ flight: Flight, _ nextPulse: ContinuousClock.Instant, isHeld: Bool
    ) -> Bool {
        let mayWait = state.withLock { state in
            state.isWaiting = state.queue.isEmpty || link.outputCount >= Self.mostOutput
            return state.isWaiting
        }
        let now = ContinuousClock.now
        var end = mayWait ? flight.first?.deadline ?? now + Self.heartbeat : now
        if pulse != nil, !flight.hasPulse { end = min(end, nextPulse) }
        if isHeld { end = min(end, now + Self.heldInterval) }
        return link.wait(signal.descriptor, until: end, receives: !isHeld)
    }

    /// Whether a reply comes so late that the server may have been frozen, and replaced meanwhile: then only a new
    /// answer of the sentinels counts.
    private func isLate(_ flight: Flight, at arrival: ContinuousClock.Instant) -> Bool {
        flight.first.map { arrival - ($0.deadline - limits.deadline) > RedisPulse.patience } ?? false
    }

    /// Whether replies of the server count. If that is not known, the sentinels are asked.
    ///
    /// - Parameter start: since when they must have been asked; nil for a moment ago.
    /// - Throws: ``RedisFailure`` when the server was replaced.
    private func belief(in server: Server, since start: ContinuousClock.Instant?) throws(RedisFailure) -> Bool {
        guard let sentinels else { return true }
        let isBelieved = try standing(of: server, since: start) == .believed
        sentinels.await(!isBelieved, signal)
        return isBelieved
    }

    /// - Throws: ``RedisFailure`` when the server was replaced.
    private func standing(
        of server: Server, since start: ContinuousClock.Instant?
    ) throws(RedisFailure) -> SentinelAnswers.Standing {
        guard let sentinels, let master = server.master else { return .believed }
        let standing = sentinels.standing(of: master, since: start)
        if case .replaced(let other) = standing {
            throw RedisLink.lost("\(server.address) is not the master any more, \(other) is")
        }
        return standing
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
        flight.append(Job(request: request, deadline: .now + limits.deadline, done: { _ in }, kind: .wait))
    }

    private func take(_ reply: RedisReply, _ flight: inout Flight, from server: Server) throws(RedisFailure) {
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
        // The master may have lost its replicas to another one.
        if flight.first?.isWait == true, let count = reply.number, count < limits.replicas { sentinels?.wake() }
        try flight.add(reply) { (job, outcome) throws(RedisFailure) in
            switch (job.kind, outcome) {
            case (.request, _):
                release([job])
                job.done(outcome)
            case (.pulse(let start, let sentAt), .replies(let replies)):
                try take(replies, from: server, since: start, sentAt)
            default: break
            }
        }
    }

    /// The reply to a pulse.
    private func take(
        _ replies: [RedisReply], from server: Server, since start: RedisTime.Reading, _ sentAt: ContinuousClock.Instant
    ) throws(RedisFailure) {
        guard let pulse else { return }
        let doubt = try pulse.judge(replies, of: server.address, since: start, node: node)
        state.withLock { state in
            state.pulsedAt = .now
            // It may have waited behind a `WAIT` that replicas did not answer.
            state.doubt = doubt.map { ($0, state.doubt?.since ?? sentAt) }
        }
        pulse.done()
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
        for var job in flight.jobs where !job.isOwn {
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
            state.doubt = nil
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
    /// For how long late replies are taken after the sentinels have confirmed one.
    private static let lateWindow = Duration.milliseconds(250)
    /// How often is looked whether replies that are held count.
    private static let heldInterval = Duration.milliseconds(50)
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
        private(set) var hasPulse = false

        init(replicas: Int) { self.replicas = replicas }

        var isEmpty: Bool { place == all.count }
        /// Whether nobody waits for anything.
        var isIdle: Bool { held.isEmpty && (isEmpty || (hasPulse && place + 1 == all.count)) }
        var first: Job? { isEmpty ? nil : all[place] }
        /// Those without an outcome.
        var jobs: [Job] { held.map(\.job) + all[place...] }

        mutating func append(_ job: Job) {
            all.append(job)
            if case .pulse = job.kind { hasPulse = true }
        }

        /// - Parameter done: is called with each request whose outcome is known by this reply.
        mutating func add(
            _ reply: RedisReply, _ done: (Job, Outcome) throws(RedisFailure) -> Void
        ) throws(RedisFailure) {
            guard let job = first else { throw RedisLink.lost("Redis sent an unexpected reply") }
            replies.append(reply)
            guard replies.count == job.request.count else { return }
            place += 1
            if place * 2 > all.count {
                all.removeFirst(place)
                place = 0
            }
            let replies = exchange(&replies, with: [])
            if case .pulse = job.kind { hasPulse = false }
            if job.isWait {
                guard let count = replies[0].number else { throw RedisLink.lost("Redis does not wait for replicas") }
                for (job, replies) in exchange(&held, with: []) { try done(job, outcome(job, replies, count)) }
                return
            }
            guard held.isEmpty, replicas == 0 || !job.request.needsReplicas else {
                held.append((job, replies))
                return
            }
            try done(job, .replies(replies))
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
