import Glibc
import Sessions
import Storage
import Synchronization

/// Sessions in Redis, which several servers share.
///
/// A commit is one round trip to one Redis server: what indexes need before it, and a script that changes the session
/// if its revision is the one that it was made from, or else replies with the session. In a cluster what indexes need
/// is awaited first. Indexes are hints: what is found in one is looked up in the session.
package final class RedisStore: SessionStore {
    package struct Settings: Sendable {
        /// In front of every key and channel, so that installations can share a Redis.
        package var prefix = RedisStore.usualPrefix
        /// By how many milliseconds other servers may accept a session longer than its stored use says.
        package var useLag: Int64 = 0
        /// How long after a session's absolute expiry Redis itself removes it, in milliseconds, should no server do so:
        /// more than the retention. `nil` for never.
        package var expiryMargin: Int64?
        /// How long after a session's end Redis keeps what back ends have not been told of it, in milliseconds.
        package var noticeTime: Int64 = 0
        /// How long a request may wait for its reply, and the most that connecting may take.
        package var deadline = Duration.seconds(5)
        /// How many replicas must have a change before it is acknowledged.
        package var replicas = 0
        /// How long Redis may be away before there is ``RedisStore/trouble``.
        package var grace = Duration.zero
        /// How many requests may be without a reply.
        var requests = 100_000

        package init() {}
    }

    package static let usualPrefix = "cg:"

    let settings: Settings
    let keys: RedisKeys
    let names: ServiceNames
    let documentKeys: DocumentKeys?
    let damage: DamageCount
    let router: RedisRouter
    let followers: RedisFollowers
    let gate = RedisGate()
    let doubts = RedisDoubts()
    let taskDoubts = RedisDoubts()
    let counter: RedisCounter
    private let condition: RedisCondition
    let time: RedisTime
    let marks: RedisMarks
    let claims = RedisClaims()
    /// The used flows when they were last asked for.
    private let seenFlows = Mutex<[String]>([])
    /// How many nonces were given.
    let lastNonce = Atomic<UInt64>(0)
    /// Tells this process from others. Its nonces begin with it.
    let name = Hexadecimal.text(SessionID(random: SystemRandom()).low)
    /// Where the search for expired sessions continues.
    let lastSearched = Mutex<SessionID?>(nil)

    /// Begins to connect, and does not wait for it: until there is a connection there is ``trouble``.
    ///
    /// - Parameters:
    ///   - services: the names of all services, in the order of the catalogue.
    ///   - documentKeys: encrypt documents and labels; without them both are stored as they are.
    ///   - clock: that of the sessions, which is compared with Redis' clock.
    ///   - report: is called with a sentence for the log about damage and other trouble.
    ///   - warn: is called with a sentence for the log about settings of Redis that lose something.
    /// - Throws: ``StoreOpeningError``.
    package init(
        _ address: RedisAddress, services: ServiceNames, settings: Settings = Settings(),
        documentKeys: DocumentKeys? = nil, clock: any SessionClock = SystemClock(),
        report: @escaping @Sendable (String) -> Void = { _ in },
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreOpeningError) {
        self.settings = settings
        self.documentKeys = documentKeys
        keys = RedisKeys(prefix: settings.prefix)
        names = services
        damage = DamageCount(report: report)
        router = try RedisRouter(address, settings)
        let isCluster = address.kind == .cluster
        time = RedisTime(clock, gate: gate, report: report)
        condition = RedisCondition(warn: warn)
        marks = RedisMarks(keys, isCluster: isCluster, on: router, gate: gate, report: report)
        counter = RedisCounter(keys, on: router)
        followers = RedisFollowers(keys, on: router)
        let preparation = Preparation(
            isCluster: isCluster, prefix: settings.prefix, documentKeys: documentKeys, condition: condition)
        var hooks = RedisRouter.Hooks()
        hooks.connection.prepare = { (link, server, end) throws(RedisFailure) in
            try preparation.prepare(link, to: server, until: end)
        }
        hooks.connection.pulse = RedisPulse(isCluster: isCluster, replicas: settings.replicas, time: time) {
            [weak marks] in marks?.look()
        }
        hooks.connection.told = { [weak followers] in followers?.told($0, isMoved: $1) }
        hooks.subscribes = { [weak followers] in followers?.subscribe($0) }
        hooks.moved = { [condition, time] nodes in
            condition.keep(nodes)
            time.keep(nodes)
        }
        try router.start(hooks)
        counter.refresh()
    }

    package var isShared: Bool { true }
    package var trouble: String? { router.trouble ?? marks.trouble ?? time.trouble }
    package var generation: Int { router.connectionCount }
    package var refusal: String? { router.refusal }
    /// When a write is on Redis' disk, as it says itself; `nil` when it does not, or was not asked yet.
    package var durability: Durability? { condition.durability }
    package var sessionCount: Int { counter.value }

    package func close() async {
        await gate.close()
        var end = RedisRequest()
        end.call(.exchange, keys.sweeper, .text(name), "", "")
        send(end)
        await router.close()
    }

    // MARK: One session

    package func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
        let reply = try await ask(RedisRequest("HGETALL", .text(keys.session(id))))[0]
        let found = found(id, reply)
        if found.session == nil {
            if let sentence = found.damage.first { throw .damaged(sentence) }
            try await marks.confirm(absenceOf: id)
        }
        return found.session
    }

    package func standing(of id: SessionID) async throws(StoreError) -> SessionStanding? {
        try await withUnsafeContinuation { waiting in standing(of: id) { waiting.resume(returning: $0) } }.get()
    }

    package func standing(
        of id: SessionID, then done: @escaping @Sendable (Result<SessionStanding?, StoreError>) -> Void
    ) {
        exchange(RedisRequest("HMGET", .text(keys.session(id)), "r", "u")) { [self] outcome in
            do throws(StoreError) {
                let fields = try replies(in: outcome)[0].list
                guard fields.count == 2, let revision = fields[0].text.flatMap({ UInt64($0) }),
                    let usedAt = fields[1].number
                else { return marks.confirm(absenceOf: id) { done($0.map { .failure($0) } ?? .success(nil)) } }
                done(.success(SessionStanding(revision: revision, lastUsedAt: usedAt)))
            } catch {
                done(.failure(error))
            }
        }
    }

    package func follow(_ id: SessionID, _ changed: @escaping @Sendable () -> Void) {
        followers.follow(id, changed)
    }

    package func unfollow(_ id: SessionID) { followers.unfollow(id) }

    package func touch(_ uses: [SessionUse]) async throws(StoreError) {
        var request = RedisRequest()
        for use in uses { request.call(.touch, keys.session(use.id), .text(String(use.usedAt))) }
        _ = try await ask(request)
    }

    // MARK: Flows

    package func usedFlows() async throws(StoreError) -> [UsedFlow]? {
        let members = try await ask(RedisRequest("SMEMBERS", .text(keys.flows)))[0].list.compactMap(\.text)
        seenFlows.withLock { $0 = members }
        return members.compactMap { text in
            let parts = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let version = Int(parts[0]) else { return nil }
            return UsedFlow(flow: String(parts[1]), version: version, states: String(parts[2]))
        }
    }

    /// What other servers have added since ``usedFlows()`` stays.
    package func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError) {
        let seen = seenFlows.withLock(\.self)
        var request = note(flows)
        let gone = Set(seen).subtracting(flows.map(Self.text))
        if !gone.isEmpty { request.add(["SREM", .text(keys.flows)] + gone.map { .text($0) }) }
        _ = try await ask(request)
    }

    func note(_ flows: [UsedFlow]) -> RedisRequest {
        var request = RedisRequest()
        request.needsReplicas = true
        // The session that uses them is stored.
        for flow in flows { request.add(["SADD", .text(keys.flows), .text(Self.text(flow))], insists: true) }
        return request
    }

    private static func text(_ flow: UsedFlow) -> String { "\(flow.version)\n\(flow.flow)\n\(flow.states)" }

    // MARK: Requests

    func fields(_ id: SessionID) -> RedisFields { RedisFields(id: id, names: names, keys: documentKeys) }

    /// The session of a reply to `HGETALL`. Notes its damage.
    func found(_ id: SessionID, _ reply: RedisReply) -> RedisFields.Found {
        let found = fields(id).session(reply)
        for sentence in found.damage { damage.note(sentence) }
        return found
    }

    /// Sends commands and waits for their replies, one for each.
    ///
    /// - Parameter seen: is called with the replies before any later reply is.
    func ask(
        _ request: RedisRequest, seen: @escaping @Sendable ([RedisReply]) -> Void = { _ in }
    ) async throws(StoreError) -> [RedisReply] {
        guard request.count > 0 else { return [] }
        let outcome = await withUnsafeContinuation { waiting in
            exchange(request) { outcome in
                if case .replies(let replies) = outcome { seen(replies) }
                waiting.resume(returning: outcome)
            }
        }
        return try replies(in: outcome)
    }

    /// Sends commands, and calls back on a connection's thread.
    private func exchange(_ request: RedisRequest, then done: @escaping @Sendable (RedisConnection.Outcome) -> Void) {
        if let refusal = gate.enter() { return done(.failed(refusal)) }
        let end: @Sendable (RedisConnection.Outcome) -> Void = { [gate] outcome in
            done(outcome)
            gate.leave()
        }
        if let refusal = router.append(request, then: end) { end(.failed(refusal)) }
    }

    private func replies(in outcome: RedisConnection.Outcome) throws(StoreError) -> [RedisReply] {
        let replies = try outcome.get()
        // What was found out meanwhile concerns these as well.
        if let obstacle = gate.obstacle { throw .unavailable(obstacle) }
        return replies
    }

    /// Waits for what calls back with a failure, if there is one.
    static func wait(for body: (@escaping @Sendable (StoreError?) -> Void) -> Void) async throws(StoreError) {
        let failure = await withUnsafeContinuation { waiting in body { waiting.resume(returning: $0) } }
        if let failure { throw failure }
    }

    /// Sends commands that nobody waits for. What they leave undone is found later.
    func send(_ request: RedisRequest) {
        if request.count > 0 { _ = router.append(request, isBounded: false) { _ in } }
    }

    /// The wall time in milliseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
