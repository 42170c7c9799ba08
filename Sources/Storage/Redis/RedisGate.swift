import Sessions
import Synchronization
import Threads

/// Counts the calls under way, so that a store closes after them, and refuses calls whose results could be wrong.
final class RedisGate: Sendable {
    /// Why results could be wrong.
    enum Obstacle: Sendable { case clock, loss }

    private struct State {
        var calls = 0
        var isClosed = false
        var obstacles: [Obstacle: String] = [:]
    }

    private let state = Mutex(State())
    private let end = Completion()

    func enter() throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            guard !state.isClosed else { throw .unavailable("The store is closed.") }
            if let obstacle = state.obstacles.values.first { throw .unavailable(obstacle) }
            state.calls += 1
        }
    }

    /// Why all calls are refused, those under way as well; nil when they are not.
    var obstacle: String? { state.withLock(\.obstacles.values.first) }

    subscript(obstacle: Obstacle) -> String? {
        get { state.withLock { $0.obstacles[obstacle] } }
        set { state.withLock { $0.obstacles[obstacle] = newValue } }
    }

    func leave() {
        let isLast = state.withLock { state in
            state.calls -= 1
            return state.isClosed && state.calls == 0
        }
        if isLast { end.reach() }
    }

    /// Returns when all calls have left. Later ones are refused.
    func close() async {
        let isLast = state.withLock { state in
            state.isClosed = true
            return state.calls == 0
        }
        if isLast { end.reach() }
        await end.wait()
    }
}

/// Entries of indexes that no session confirms. A commit may be on its way, so each is removed when it has been in
/// doubt for a minute.
final class RedisDoubts: Sendable {
    private struct State {
        var since: [String: ContinuousClock.Instant] = [:]
        var lookedAt = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// Whether the entry has been in doubt for long enough; then it is forgotten here.
    func isOver(_ entry: String, now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            if let first = state.since[entry] {
                guard now - first > Self.patience else { return false }
                state.since[entry] = nil
                return true
            }
            if state.since.count >= Self.most, now - state.lookedAt > Self.patience {
                // What nobody asks about any more has been confirmed.
                state.since = state.since.filter { now - $0.value < Self.patience * 60 }
                state.lookedAt = now
            }
            // The others follow when these are removed.
            if state.since.count < Self.most { state.since[entry] = now }
            return false
        }
    }

    /// The entries that have been in doubt for long enough; they are forgotten here.
    func takeOver(now: ContinuousClock.Instant = .now) -> [String] {
        state.withLock { state in
            let over = state.since.filter { now - $0.value > Self.patience }
            for entry in over.keys { state.since[entry] = nil }
            return Array(over.keys)
        }
    }

    static let patience = Duration.seconds(60)
    private static let most = 10_000
}

/// The number of sessions, as Redis says now and then, and what this process has added since.
final class RedisCounter: Sendable {
    private let count = Atomic<Int>(0)
    private let due = Mutex(ContinuousClock.now)
    private let keys: RedisKeys
    private struct Server { weak var router: RedisRouter? }
    private let server = Mutex(Server())

    init(_ keys: RedisKeys) { self.keys = keys }

    func start(on router: RedisRouter) {
        server.withLock { $0.router = router }
        refresh()
    }

    var value: Int {
        let isDue = due.withLock { due in
            guard due < .now else { return false }
            due = .now + Self.interval
            return true
        }
        if isDue { refresh() }
        return max(0, count.load(ordering: .relaxed))
    }

    /// On the connection's thread, in the order of replies: a count that is asked for includes what was added before.
    /// Of a cluster it may be wrong until the next one.
    func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }

    /// Has the next look ask. Each node of a cluster that is connected calls this.
    func expire() { due.withLock { $0 = .now } }

    func refresh() {
        var request = RedisRequest()
        for partition in 0..<SessionID.partitions { request.add("ZCARD", .text(keys.sessions(partition))) }
        _ = server.withLock(\.router)?.append(request, isBounded: false) { [weak self] outcome in
            guard case .replies(let replies) = outcome, !replies.contains(where: { $0.error != nil }) else { return }
            self?.count.store(Int(replies.reduce(0) { $0 + ($1.number ?? 0) }), ordering: .relaxed)
        }
    }

    private static let interval = Duration.seconds(3)
}
