import Sessions
import Synchronization

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
