import CCrypto
import Glibc
import Sessions
import Storage
import Synchronization
import Threads

/// The connections of a store, and which of them a request takes: the only one, or in a cluster those of the nodes to
/// which its keys belong.
///
/// A cluster has a thread that asks where its slots are, and passes on requests that wait for that.
final class RedisRouter: Sendable {
    /// Subscriptions have connections of their own, which are made when one is needed.
    enum Lane: Sendable { case commands, events }

    struct Hooks: Sendable {
        /// Prepares a new connection for commands.
        var prepare: RedisConnection.Preparation?
        /// What connections for commands ask again and again.
        var pulse: RedisPulse?
        /// Called when a connection is new, or slots have moved, with the keys that this concerns.
        var connected: @Sendable (Lane, _ concerns: (String) -> Bool) -> Void = { _, _ in }
        /// Called with all nodes of a cluster that have slots, when that has changed.
        var moved: @Sendable (Set<RedisAddress.Place>) -> Void = { _ in }
        /// Called with each message's channel, and with that of a subscription that ends because its slot moves.
        var told: @Sendable (_ channel: [UInt8], _ isMoved: Bool) -> Void = { _, _ in }
    }

    private typealias Place = RedisAddress.Place

    private struct State {
        /// The only one for commands, without a cluster.
        var only: RedisConnection?
        var connections: [Lane: [Place: RedisConnection]] = [.commands: [:], .events: [:]]
        /// The node of each slot. Empty until it is known.
        var owners: [Place?] = []
        /// The last table from the cluster, without the changes of later redirections.
        var table: [Place?] = []
        private(set) var waiting: [RedisErrand] = []
        private var waitingBytes = 0
        /// Whether ``table`` may be out of date, so that the cluster is to be asked.
        var mustAsk = true
        /// Why the last attempt to ask it failed, or which slot has no node.
        var trouble: String? {
            didSet { troubleSince = trouble == nil ? nil : troubleSince ?? .now }
        }
        private(set) var troubleSince: ContinuousClock.Instant?
        /// The same, if no other attempt changes that.
        var refusal: String?
        var isClosing = false

        func isFull(_ limits: RedisConnection.Limits) -> Bool {
            waiting.count >= limits.requests || waitingBytes >= limits.bytes
        }

        mutating func hold(_ errand: RedisErrand) {
            waiting.append(errand)
            waitingBytes += errand.bytes
        }

        mutating func release() -> [RedisErrand] {
            waitingBytes = 0
            return exchange(&waiting, with: [])
        }
    }

    private let state: Mutex<State>
    private let address: RedisAddress
    private let limits: RedisConnection.Limits
    private let hooks: Hooks
    private let sentinels: RedisSentinels?
    private let signal: RedisSignal
    private let made = Atomic<Int>(0)
    /// Of the thread that asks where the slots of a cluster are.
    private let threadEnd = Completion()

    /// - Throws: ``StoreOpeningError``.
    init(_ address: RedisAddress, _ limits: RedisConnection.Limits, _ hooks: Hooks) throws(StoreOpeningError) {
        self.address = address
        self.limits = limits
        self.hooks = hooks
        signal = try RedisSignal()
        if case .sentinels(let master) = address.kind {
            sentinels = try RedisSentinels(address, master: master)
        } else {
            sentinels = nil
        }
        state = Mutex(State())
        if address.kind != .cluster {
            try state.withLock { (state) throws(StoreOpeningError) -> Void in
                state.only = try connection(to: address.places[0], .commands, &state)
            }
            threadEnd.reach()
            return
        }
        let isStarted = DetachedThread.start("store cluster") { [weak self, signal, threadEnd] in
            while let rest = self?.turn() {
                // Of slots that move one after the other not each is worth a question.
                usleep(50_000)
                signal.wait(until: .now + rest)
            }
            // What libcrypto keeps for the thread.
            OPENSSL_thread_stop()
            threadEnd.reach()
        }
        if !isStarted { throw .noThread }
    }

    /// How often something was written to a socket.
    var writes: Int { state.withLock { $0.connections[.commands]?.values.reduce(0) { $0 + $1.writes } ?? 0 } }

    /// How often a connection for commands was made. What was read before the last one may be of a server that another
    /// one has replaced, or that has lost something since.
    var connectionCount: Int { made.load(ordering: .acquiring) }

    /// A sentence while a node cannot be reached or a slot has no node.
    var trouble: String? {
        state.withLock { state -> String? in
            if address.kind == .cluster, state.owners.isEmpty {
                return state.trouble ?? "There is no connection to \(address) yet."
            }
            let isOver = state.troubleSince.map { .now - $0 >= limits.grace } ?? false
            // Not lazily: that would ask a connection twice and stop the program when its trouble ends in between.
            return (isOver ? state.trouble : nil)
                ?? state.connections.values.flatMap(\.values).compactMap(\.trouble).first
        }
    }

    /// Why Redis refuses us, if no attempt can help that.
    var refusal: String? {
        state.withLock { $0.refusal ?? $0.connections[.commands]?.values.compactMap(\.refusal).first }
    }

    /// Adds a request to those that wait.
    ///
    /// - Parameters:
    ///   - isBounded: false for what follows from other requests, and was counted with them.
    ///   - done: called once, on a thread of a connection or of the cluster. Not called when the request is refused.
    /// - Returns: why the request is refused; `nil` when it was added.
    func append(
        _ request: RedisRequest, on lane: Lane = .commands, isBounded: Bool = true,
        then done: @escaping @Sendable (RedisConnection.Outcome) -> Void
    ) -> String? {
        if address.kind != .cluster {
            do throws(StoreOpeningError) {
                let connection = try state.withLock { (state) throws(StoreOpeningError) -> RedisConnection in
                    if lane == .commands, let only = state.only { return only }
                    return try self.connection(to: address.places[0], lane, &state)
                }
                return connection.append(request, isBounded: isBounded, then: done)
            } catch {
                return "\(error)"
            }
        }
        let errand = RedisErrand(
            request, lane, isBounded: isBounded, deadline: .now + limits.deadline, done: done)
        return state.withLock { (state) -> String? in
            if !state.owners.isEmpty, case .send(let steps) = errand.next() {
                return send(errand, steps, isFirst: true, &state)
            }
            if state.isClosing { return "The store is closed." }
            if let trouble = state.trouble { return trouble }
            if isBounded, state.isFull(limits) { return "Too many requests wait for Redis." }
            state.hold(errand)
            return nil
        }
    }

    func close() async {
        let connections = state.withLock { state in
            state.isClosing = true
            return state.connections.values.flatMap(\.values)
        }
        signal.raise()
        for connection in connections { connection.close() }
        for connection in connections { await connection.waitForEnd() }
        await sentinels?.close()
        await threadEnd.wait()
        for errand in state.withLock({ $0.release() }) { errand.done(.failed("The store is closed.")) }
    }

    deinit {
        state.withLock { for connection in $0.connections.values.flatMap(\.values) { connection.close() } }
        signal.raise()
    }

    // MARK: Under the lock

    private func connection(
        to place: RedisAddress.Place, _ lane: Lane, _ state: inout State
    ) throws(StoreOpeningError) -> RedisConnection {
        if let made = state.connections[lane]?[place] { return made }
        guard !state.isClosing else { throw .noThread }
        let (hooks, isCluster) = (hooks, address.kind == .cluster)
        let made = try RedisConnection(
            lane == .commands ? "store redis" : "store follower", to: isCluster ? address.server(at: place) : address,
            limits: limits, sentinels: sentinels, pulse: lane == .commands ? hooks.pulse : nil,
            isLater: lane == .events || !state.table.isEmpty, prepare: lane == .commands ? hooks.prepare : nil,
            connected: { [weak self] in
                if lane == .commands { self?.made.add(1, ordering: .acquiringAndReleasing) }
                let owners = isCluster ? self?.state.withLock(\.owners) ?? [] : []
                hooks.connected(lane) { owners.isEmpty || owners[RedisSlot.of($0)] == place }
            },
            // A server without requests learns by this that slots have moved.
            refused: { [weak self] in if isCluster { self?.state.withLock { self?.ask(&$0) } } }, told: hooks.told)
        state.connections[lane]?[place] = made
        return made
    }

    /// Sends each step to the node of its slot.
    ///
    /// - Returns: why all of it is refused, if it is.
    private func send(
        _ errand: RedisErrand, _ steps: [RedisErrand.Step], isFirst: Bool = false, _ state: inout State
    ) -> String? {
        var parts: [(connection: RedisConnection, isAsking: Bool, steps: [RedisErrand.Step])] = []
        var stranded: [RedisErrand.Step] = []
        for step in steps {
            let slot = errand.slot(step)
            guard let place = step.asked ?? (slot < state.owners.count ? state.owners[slot] : nil),
                let connection = try? self.connection(to: place, errand.lane, &state)
            else {
                stranded.append(step)
                continue
            }
            let isAsking = step.asked != nil
            if let part = parts.firstIndex(where: { $0.connection === connection && $0.isAsking == isAsking }) {
                parts[part].steps.append(step)
            } else {
                parts.append((connection, isAsking, [step]))
            }
        }
        errand.expect(parts.count + (stranded.isEmpty ? 0 : 1))
        var refusals: [String] = []
        for (connection, isAsking, steps) in parts {
            let request = errand.part(steps, asking: isAsking)
            let refusal = connection.append(request, isBounded: errand.isBounded && isFirst) { [self] outcome in
                take(outcome, errand, steps, isAsking: isAsking)
            }
            if let refusal { refusals.append(refusal) }
        }
        if !refusals.isEmpty { ask(&state) }
        if isFirst, stranded.isEmpty, refusals.count == parts.count { return refusals.first }
        // Not done here, where the caller may hold a lock.
        var isLast = false
        for refusal in refusals { isLast = errand.fail(.failed(refusal)) }
        if !stranded.isEmpty { isLast = errand.strand(stranded) }
        if isLast { wait(errand, &state) }
        return nil
    }

    /// Goes on with an errand on the thread of the cluster.
    private func wait(_ errand: RedisErrand, _ state: inout State) {
        state.hold(errand)
        ask(&state)
    }

    /// Makes the cluster's thread ask where the slots are.
    private func ask(_ state: inout State) {
        state.mustAsk = true
        signal.raise()
    }

    // MARK: On threads of connections

    private func take(
        _ outcome: RedisConnection.Outcome, _ errand: RedisErrand, _ steps: [RedisErrand.Step], isAsking: Bool
    ) {
        let isLast: Bool
        if case .replies(var replies) = outcome {
            // Each one follows the reply to ASKING.
            if isAsking { replies = steps.indices.map { replies[2 * $0 + 1] } }
            for case .moved(let slot, let place?) in replies.lazy.compactMap(RedisErrand.Redirection.init) {
                state.withLock { state in
                    if state.owners.indices.contains(slot) { state.owners[slot] = place }
                    ask(&state)
                }
            }
            isLast = errand.take(replies, of: steps)
        } else {
            state.withLock { ask(&$0) }
            isLast = errand.fail(outcome)
        }
        if isLast { proceed(errand, errand.next()) }
    }

    private func proceed(_ errand: RedisErrand, _ next: RedisErrand.Next) {
        switch next {
        case .send(let steps): _ = state.withLock { send(errand, steps, &$0) }
        case .wait:
            let isFull = state.withLock { state in
                guard !state.isFull(limits) else { return true }
                wait(errand, &state)
                return false
            }
            if isFull { errand.done(.failed("Too many requests wait for Redis.")) }
        case .end(let outcome): errand.done(outcome)
        }
    }

    // MARK: On the thread of the cluster

    /// - Returns: for how long nothing is to be done; `nil` at the end.
    private func turn() -> Duration? {
        if state.withLock(\.isClosing) { return nil }
        let waiting = state.withLock { $0.release() }
        if !isWell || state.withLock(\.mustAsk) { locate() }
        let failure = state.withLock { $0.owners.isEmpty ? $0.trouble : nil }
        for errand in waiting { proceed(errand, failure.map { .end(.failed($0)) } ?? errand.next(hasWaited: true)) }
        let isWell = isWell
        return state.withLock { isWell && $0.waiting.isEmpty ? .seconds(60) : .milliseconds(100) }
    }

    private var isWell: Bool {
        state.withLock { state in
            let connections = state.connections.values.lazy.flatMap(\.values)
            return state.trouble == nil && !state.owners.isEmpty && !connections.contains(where: \.isAway)
        }
    }

    /// Asks one node after the other where the slots are.
    private func locate() {
        let places = state.withLock { state in
            state.mustAsk = false
            let known = state.connections[.commands] ?? [:]
            let well = known.filter { !$0.value.isAway }.map(\.key)
            return well.shuffled() + address.places.shuffled() + known.keys
        }
        var failure = RedisFailure("No node of \(address) is known.")
        var asked: Set<Place> = []
        // Requests wait for the answer.
        let end = ContinuousClock.now + .seconds(2)
        for place in places where asked.insert(place).inserted && .now < end {
            do throws(RedisFailure) {
                let reply = try address.server(at: place).ask(
                    "CLUSTER", "SLOTS", until: min(end, .now + .seconds(1)))
                return try adopt(reply, of: place)
            } catch {
                failure = error
            }
        }
        state.withLock { ($0.trouble, $0.refusal) = (failure.sentence, failure.isPermanent ? failure.sentence : nil) }
    }

    private func adopt(_ reply: RedisReply, of node: RedisAddress.Place) throws(RedisFailure) {
        var owners = [Place?](repeating: nil, count: RedisSlot.count)
        for range in reply.list {
            let (host, port) = (range[2][0].text ?? "", range[2][1].number.flatMap(UInt16.init(exactly:)))
            guard let port, let first = range[0].number, let last = range[1].number, 0 <= first, first <= last,
                last < RedisSlot.count
            else { throw RedisFailure("\(node) does not say where the cluster's slots are.") }
            // A node that does not know its own name says "" or "?".
            let place = Place(host: host.isEmpty || host == "?" ? node.host : host, port: port)
            for slot in first...last { owners[Int(slot)] = place }
        }
        let former = state.withLock { state in
            state.refusal = nil
            state.trouble = owners.firstIndex(of: nil).map { "No node of \(address) serves slot \($0)." }
            let nodes = Set(owners.compactMap(\.self))
            for place in nodes { _ = try? connection(to: place, .commands, &state) }
            for (lane, connections) in state.connections {
                for (place, connection) in connections where !nodes.contains(place) {
                    state.connections[lane]?[place] = nil
                    connection.close()
                }
            }
            state.owners = owners
            return exchange(&state.table, with: owners)
        }
        guard former != owners else { return }
        hooks.moved(Set(owners.compactMap(\.self)))
        hooks.connected(.events) { former.isEmpty || former[RedisSlot.of($0)] != owners[RedisSlot.of($0)] }
    }
}
