import Glibc
import Synchronization

// On the connection's thread, while there is a connection.
extension RedisConnection {
    /// Sends and receives until the connection is lost, or closed because everything is done.
    func serve(
        _ link: RedisLink, _ server: RedisAddress, _ belief: RedisBelief?
    ) throws(RedisFailure) {
        var belief = belief
        var flight = RedisFlight(replicas: settings.replicas)
        var lastReply = ContinuousClock.now
        var nextPulse = lastReply + RedisPulse.interval
        var isOverdue = false
        do throws(RedisFailure) {
            while true {
                if let pulse, nextPulse <= .now, state.withLock({ !$0.isPulsing }) {
                    send(pulse, to: server)
                    nextPulse = .now + RedisPulse.interval
                }
                if link.outputCount < Self.mostOutput { write(to: link, &flight) }
                if link.outputCount > 0 {
                    writeCount.wrappingAdd(1, ordering: .relaxed)
                    try link.flush()
                }
                if flight.isEmpty, endIfDone() { return }
                if let first = flight.first, first.deadline <= .now {
                    isOverdue = true
                    throw RedisLink.lost("Redis does not respond in time")
                }
                if pulse == nil, flight.isEmpty, .now - lastReply > Self.heartbeat {
                    _ = append(RedisRequest("PING"), isBounded: false) { _ in }
                }
                guard wait(for: link, flight, nextPulse, isHeld: belief?.isHeld == true) else {
                    try belief?.look()
                    continue
                }
                let arrival = ContinuousClock.now
                let sentAt = flight.first.map { $0.deadline - settings.deadline } ?? arrival
                guard try belief?.takes(arrival, sentAt: sentAt) ?? true else { continue }
                try link.receive()
                while let reply = try link.next() { try take(reply, &flight) }
                lastReply = arrival
            }
        } catch {
            lose(flight, error.sentence, isOverdue: isOverdue)
            throw error
        }
    }

    /// Writes all that waits.
    private func write(to link: RedisLink, _ flight: inout RedisFlight) {
        letMoreCome()
        let now = ContinuousClock.now
        var needsReplicas = false
        for job in state.withLock({ state in exchange(&state.queue, with: []) }) {
            guard job.deadline > now else {
                finish([job], .failed("The request waited too long for a connection to Redis."))
                continue
            }
            link.write(job.request.bytes)
            needsReplicas = needsReplicas || job.request.needsReplicas
            flight.append(job)
        }
        guard needsReplicas, settings.replicas > 0 else { return }
        // Holds the outcomes of what was written until replicas have it. Redis serves nothing else on the connection
        // meanwhile, so that takes a second at the most.
        let most = min(settings.deadline / 2, .seconds(1)) / .milliseconds(1)
        let request = RedisRequest("WAIT", .text(String(settings.replicas)), .text(String(Int(most))))
        link.write(request.bytes)
        flight.append(RedisJob(request: request, deadline: now + settings.deadline, kind: .wait) { _ in })
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

    /// Waits until there is something to do.
    ///
    /// - Parameter isHeld: whether replies stay where they are.
    /// - Returns: whether there is something to receive.
    private func wait(
        for link: RedisLink, _ flight: RedisFlight, _ nextPulse: ContinuousClock.Instant, isHeld: Bool
    ) -> Bool {
        let (mayWait, isPulsing) = state.withLock { state in
            state.isWaiting = state.queue.isEmpty || link.outputCount >= Self.mostOutput
            return (state.isWaiting, state.isPulsing)
        }
        let now = ContinuousClock.now
        var end = mayWait ? flight.first?.deadline ?? now + Self.heartbeat : now
        if pulse != nil, !isPulsing { end = min(end, nextPulse) }
        if isHeld { end = min(end, now + Self.heldInterval) }
        return link.wait(signal.descriptor, until: end, receives: !isHeld)
    }

    private func take(_ reply: RedisReply, _ flight: inout RedisFlight) throws(RedisFailure) {
        if reply.list.count == 3, let kind = reply[0].text, let channel = reply[1].bytes {
            if kind == "smessage" { return hooks.told(channel, false) }
            // It is a reply if it was requested.
            if kind == "sunsubscribe", flight.first?.request.bytes != RedisRequest.unsubscribe(channel).bytes {
                return hooks.told(channel, true)
            }
        }
        // The next connection loads the scripts, and is to the master. Until then it is not known what else is missing.
        if let error = reply.error, Self.ends.contains(where: error.hasPrefix) {
            throw RedisLink.lost("Redis says \(error)")
        }
        // The master may have lost its replicas to another one.
        let kind = flight.first?.kind
        if kind == .wait, let count = reply.number, count < settings.replicas { sentinels?.wake() }
        try flight.add(reply) { job, outcome in finish([job], outcome) }
        if kind != .request, let failure = state.withLock({ $0.pulseFailure.take() }) { throw failure }
    }

    /// Has the pulse's question go the way of all requests.
    private func send(_ pulse: RedisPulse, to server: RedisAddress) {
        let (start, now) = (pulse.time.read(), ContinuousClock.now)
        var request = RedisPulse.request
        request.isRepeatable = false
        let job = RedisJob(request: request, deadline: now + settings.deadline, kind: .pulse) { [self] outcome in
            var failure: RedisFailure?
            if case .replies(let replies) = outcome {
                do throws(RedisFailure) {
                    try pulse.judge(replies, of: server, since: start)
                    state.withLock { $0.pulsedAt = .now }
                } catch {
                    failure = error
                }
            }
            state.withLock { ($0.isPulsing, $0.pulseFailure) = (false, failure) }
        }
        state.withLock { state in
            state.isPulsing = true
            state.add(job)
        }
    }

    private func lose(_ flight: RedisFlight, _ sentence: String, isOverdue: Bool) {
        var again: [RedisJob] = []
        var lost: [RedisJob] = []
        for var job in flight.jobs {
            if job.request.isRepeatable, !isOverdue {
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
        finish(lost, isOverdue ? .failed(sentence) : .lost(sentence))
    }

    private static let ends = ["NOSCRIPT", "READONLY", "LOADING", "MASTERDOWN", "UNBLOCKED"]

    /// No more is taken from the queue while so many bytes wait for the socket.
    private static let mostOutput = 1 << 20
    /// So many requests are worth a system call.
    private static let enough = 32
    /// How often is looked whether replies that are held count.
    private static let heldInterval = Duration.milliseconds(50)
    /// An idle connection is tried after that time.
    private static let heartbeat = Duration.seconds(5)
}

/// A request of a connection, until its outcome is known.
struct RedisJob {
    enum Kind {
        case request
        /// The `WAIT` behind others.
        case wait
        /// See ``RedisPulse``.
        case pulse
    }

    var request: RedisRequest
    let deadline: ContinuousClock.Instant
    var kind = Kind.request
    let done: @Sendable (RedisConnection.Outcome) -> Void
}

/// Requests that were sent, in order.
struct RedisFlight {
    let replicas: Int
    private var all: [RedisJob] = []
    private var place = 0
    /// Of the first.
    private var replies: [RedisReply] = []
    /// Requests that were executed and wait for replicas, and what came after them.
    private var held: [(job: RedisJob, replies: [RedisReply])] = []

    init(replicas: Int) { self.replicas = replicas }

    var isEmpty: Bool { held.isEmpty && first == nil }
    var first: RedisJob? { place == all.count ? nil : all[place] }
    /// Those without an outcome.
    var jobs: [RedisJob] { (held.map(\.job) + all[place...]).filter { $0.kind != .wait } }

    mutating func append(_ job: RedisJob) { all.append(job) }

    /// - Parameter done: is called with each request whose outcome is known by this reply.
    mutating func add(
        _ reply: RedisReply, _ done: (RedisJob, RedisConnection.Outcome) -> Void
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
        if job.kind == .wait {
            guard let count = replies[0].number else { throw RedisLink.lost("Redis does not wait for replicas") }
            for (job, replies) in exchange(&held, with: []) { done(job, outcome(job, replies, count)) }
        } else if !held.isEmpty || (replicas > 0 && job.request.needsReplicas) {
            held.append((job, replies))
        } else {
            done(job, .replies(replies))
        }
    }

    private func outcome(_ job: RedisJob, _ replies: [RedisReply], _ count: Int64) -> RedisConnection.Outcome {
        // What Redis refused is nowhere.
        guard count < replicas, job.request.needsReplicas, replies.contains(where: { $0.error == nil }) else {
            return .replies(replies)
        }
        return .failed("Only \(count) of \(replicas) replicas confirmed the write in time. It may be stored.")
    }
}
