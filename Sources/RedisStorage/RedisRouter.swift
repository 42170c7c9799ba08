import CCrypto
import Glibc
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
        /// Of each connection. Only those for commands are prepared.
        var connection = RedisConnection.Hooks()
        /// Called when a connection of subscriptions is new, or slots have moved, with the keys that this concerns.
        var subscribes: @Sendable (_ concerns: (String) -> Bool) -> Void = { _ in }
        /// Called with all nodes of a cluster that have slots, when that has changed.
        var moved: @Sendable (Set<RedisAddress.Place>) -> Void = { _ in }
    }

    private typealias Place = RedisAddress.Place

    private struct State {
        var hooks = Hooks()
        /// The only one for commands, without a cluster.
        var only: RedisConnection?
        var connections: [Lane: [Place: RedisConnection]] = [.commands: [:], .events: [:]]
        /// The node of each slot. Empty until it is known.
        var owners: [Place?] = []
        private(set) var waiting: [RedisErrand] = []
        private var waitingBytes = 0
        /// Whether that may be out of date, so that the cluster is to be asked.
        var mustAsk = true
        /// Why the last attempt to ask it failed, or which slot has no node.
        var failure: RedisFailure? {
            didSet { failingSince = failure == nil ? nil : failingSince ?? .now }
        }
        private(set) var failingSince: ContinuousClock.Instant?
        var isClosing = false

        var all: [RedisConnection] { connections.values.flatMap(\.values) }

        /// - Parameter most: nil for an errand that was counted before.
        /// - Returns: why it is refused, if it is.
        mutating func hold(_ errand: RedisErrand, atMost most: Int? = nil) -> String? {
            if let most, waiting.count >= most || waitingBytes >= RedisConnection.mostBytes {
                return "Too many requests wait for Redis."
            }
            waiting.append(errand)
            waitingBytes += errand.bytes
            return nil
        }

        mutating func release() -> [RedisErrand] {
            waitingBytes = 0
            return exchange(&waiting, with: [])
        }
    }

    private let state: Mutex<State>
    private let address: RedisAddress
    private let settings: RedisStore.Settings
    private let sentinels: RedisSentinels?
    private let signal: RedisSignal
    private let made = Atomic<Int>(0)
    /// Of the thread that asks where the slots of a cluster are.
    private let threadEnd = Completion()

    /// - Throws: ``StoreOpeningError``.
    init(_ address: RedisAddress, _ settings: RedisStore.Settings) throws(StoreOpeningError) {
        self.address = address
        self.settings = settings
        signal = try RedisSignal()
        if case .sentinels(let master) = address.kind {
            sentinels = try RedisSentinels(address, master: master)
        } else {
            sentinels = nil
        }
        state = Mutex(State())
    }

    /// Begins to connect. Nothing may be requested before.
    ///
    /// - Throws: ``StoreOpeningError``.
    func start(_ hooks: Hooks) throws(StoreOpeningError) {
        try state.withLock { (state) throws(StoreOpeningError) -> Void in
            state.hooks = hooks
            if !isCluster { state.only = try connection(to: address.places[0], .commands, &state) }
        }
        guard isCluster else { return threadEnd.reach() }
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

    private var isCluster: Bool { address.kind == .cluster }

    /// How often something was written to a socket.
    var writes: Int { state.withLock { $0.connections[.commands]?.values.reduce(0) { $0 + $1.writes } ?? 0 } }

    /// How often a connection for commands was made. What was read before the last one may be of a server that another
    /// one has replaced, or that has lost something since.
    var connectionCount: Int { made.load(ordering: .acquiring) }

    /// A sentence while a node cannot be reached or a slot has no node.
    var trouble: String? {
        state.withLock { state -> String? in
            if isCluster, state.owners.isEmpty {
                return state.failure?.sentence ?? "There is no connection to \(address) yet."
            }
            let isOver = state.failingSince.map { .now - $0 >= settings.grace } ?? false
            // Not lazily: that would ask a connection twice and stop the program when its trouble ends in between.
            return (isOver ? state.failure?.sentence : nil) ?? state.all.compactMap(\.trouble).first
        }
    }

    /// Why Redis refuses us, if no attempt can help that.
    var refusal: String? {
        state.withLock { $0.failure?.refusal ?? $0.all.compactMap(\.refusal).first }
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
        if !isCluster {
            let connection = state.withLock { state in
                lane == .commands ? state.only : try? self.connection(to: address.places[0], lane, &state)
            }
            guard let connection else { return "There is no thread for a connection to Redis." }
            return connection.append(request, isBounded: isBounded, then: done)
        }
        let errand = RedisErrand(
            request, lane, isBounded: isBounded, deadline: .now + settings.deadline, done: done)
        return state.withLock { (state) -> String? in
            if !state.owners.isEmpty, case .send(let steps) = errand.next() {
                return send(errand, steps, isFirst: true, &state)
            }
            if state.isClosing { return "The store is closed." }
            if let failure = state.failure { return failure.sentence }
            return state.hold(errand, atMost: isBounded ? settings.requests : nil)
        }
    }

    func close() async {
        let connections = state.withLock { state in
            state.isClosing = true
            return state.all
        }
        signal.raise()
        for connection in connections { connection.close() }
        for connection in connections { await connection.waitForEnd() }
        await sentinels?.close()
        await threadEnd.wait()
        for errand in state.withLock({ $0.release() }) { errand.done(.failed("The store is closed.")) }
    }

    deinit {
        for connection in state.withLock(\.all) { connection.close() }
        signal.raise()
    }

    // MARK: Under the lock

    private func connection(
        to place: Place, _ lane: Lane, _ state: inout State
    ) throws(StoreOpeningError) -> RedisConnection {
        if let made = state.connections[lane]?[place] { return made }
        guard !state.isClosing else { throw .noThread }
        var hooks = state.hooks.connection
        if lane == .events { hooks.prepare = nil }
        hooks.connected = { [weak self, subscribes = state.hooks.subscribes] in
            guard let self else { return }
            guard lane == .events else {
                self.made.add(1, ordering: .acquiringAndReleasing)
                return
            }
            let owners = self.state.withLock(\.owners)
            subscribes { owners.isEmpty || owners[RedisSlot.of($0)] == place }
        }
        // A server without requests learns by this that slots have moved.
        hooks.refused = { [weak self] in if let self, isCluster { self.state.withLock { self.ask(&$0) } } }
        let made = try RedisConnection(
            lane == .commands ? "store redis" : "store follower", to: isCluster ? address.server(at: place) : address,
            settings: settings, sentinels: sentinels, isSubscribed: lane == .events,
            isLater: lane == .events || !state.owners.isEmpty, hooks: hooks)
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
            guard let place = step.node ?? (slot < state.owners.count ? state.owners[slot] : nil),
                let connection = try? self.connection(to: place, errand.lane, &state)
            else {
                stranded.append(step)
                continue
            }
            let part = parts.firstIndex { $0.connection === connection && $0.isAsking == step.isAsking }
            if let part { parts[part].steps.append(step) } else { parts.append((connection, step.isAsking, [step])) }
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
        for refusal in refusals { isLast = errand.take(.failed(refusal), of: []).isLast }
        if !stranded.isEmpty {
            isLast = errand.take(.replies(stranded.map { _ in .error("CLUSTERDOWN") }), of: stranded).isLast
        }
        if isLast {
            _ = state.hold(errand)
            ask(&state)
        }
        return nil
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
        var outcome = outcome
        if isAsking, case .replies(let replies) = outcome {
            // Each one follows the reply to ASKING.
            outcome = .replies(steps.indices.map { replies[2 * $0 + 1] })
        }
        let (isLast, isMoved) = errand.take(outcome, of: steps)
        if isMoved { state.withLock { ask(&$0) } }
        if isLast { proceed(errand, errand.next()) }
    }

    private func proceed(_ errand: RedisErrand, _ next: RedisErrand.Next) {
        switch next {
        case .send(let steps): _ = state.withLock { send(errand, steps, &$0) }
        case .wait:
            let refusal = state.withLock { state in
                ask(&state)
                return state.hold(errand, atMost: settings.requests)
            }
            if let refusal { errand.done(.failed(refusal)) }
        case .end(let outcome): errand.done(outcome)
        }
    }

    // MARK: On the thread of the cluster

    /// - Returns: for how long nothing is to be done; `nil` at the end.
    private func turn() -> Duration? {
        if state.withLock(\.isClosing) { return nil }
        let waiting = state.withLock { $0.release() }
        if !isWell || state.withLock(\.mustAsk) { locate() }
        let failure = state.withLock { $0.owners.isEmpty ? $0.failure : nil }
        for errand in waiting {
            proceed(errand, failure.map { .end(.failed($0.sentence)) } ?? errand.next(hasWaited: true))
        }
        let isWell = isWell
        return state.withLock { isWell && $0.waiting.isEmpty ? .seconds(60) : .milliseconds(100) }
    }

    private var isWell: Bool {
        state.withLock { $0.failure == nil && !$0.owners.isEmpty && !$0.all.contains(where: \.isAway) }
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
                return adopt(try slots(at: place, until: min(end, .now + .seconds(1))))
            } catch {
                failure = error
            }
        }
        state.withLock { $0.failure = failure }
    }

    /// The node of each slot, as one node says, on a connection of its own.
    private func slots(at node: Place, until end: ContinuousClock.Instant) throws(RedisFailure) -> [Place?] {
        let server = address.server(at: node)
        var request = server.greeting
        request.add("CLUSTER", "SLOTS")
        let replies = try RedisLink(to: server, until: end).exchange(request, until: end)
        var owners = [Place?](repeating: nil, count: RedisSlot.count)
        for range in replies[replies.count - 1].list {
            let (host, port) = (range[2][0].text ?? "", range[2][1].number.flatMap(UInt16.init(exactly:)))
            guard let port, let first = range[0].number, let last = range[1].number, 0 <= first, first <= last,
                last < RedisSlot.count
            else { throw RedisFailure("\(node) does not say where the cluster's slots are.") }
            // A node that does not know its own name says "" or "?".
            let place = Place(host: host.isEmpty || host == "?" ? node.host : host, port: port)
            for slot in first...last { owners[Int(slot)] = place }
        }
        return owners
    }

    private func adopt(_ owners: [Place?]) {
        let (former, hooks) = state.withLock { state in
            state.failure = owners.firstIndex(of: nil).map {
                RedisFailure("No node of \(address) serves slot \($0).")
            }
            let nodes = Set(owners.compactMap(\.self))
            for place in nodes { _ = try? connection(to: place, .commands, &state) }
            for (lane, connections) in state.connections {
                for (place, connection) in connections where !nodes.contains(place) {
                    state.connections[lane]?[place] = nil
                    connection.close()
                }
            }
            return (exchange(&state.owners, with: owners), state.hooks)
        }
        guard former != owners else { return }
        hooks.moved(Set(owners.compactMap(\.self)))
        hooks.subscribes { former.isEmpty || former[RedisSlot.of($0)] != owners[RedisSlot.of($0)] }
    }
}
