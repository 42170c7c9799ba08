import Sessions
import Synchronization

/// Those who want to know of changes of sessions. The first one opens a connection for them.
final class RedisFollowers: Sendable {
    private struct State {
        var followers: [SessionID: @Sendable () -> Void] = [:]
        var connection: RedisConnection?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let keys: RedisKeys
    private let connect: @Sendable (RedisFollowers) throws(StoreOpeningError) -> RedisConnection

    init(
        _ keys: RedisKeys, connect: @escaping @Sendable (RedisFollowers) throws(StoreOpeningError) -> RedisConnection
    ) {
        self.keys = keys
        self.connect = connect
    }

    var trouble: String? { state.withLock(\.connection)?.failure }

    func follow(_ id: SessionID, _ changed: @escaping @Sendable () -> Void) throws(StoreOpeningError) {
        try state.withLock { (state) throws(StoreOpeningError) in
            guard !state.isClosed else { return }
            state.followers[id] = changed
            // A new connection subscribes to all that are followed by then, and so does one that comes back.
            guard let connection = state.connection else {
                state.connection = try connect(self)
                return
            }
            subscribe([id], connection)
        }
    }

    func unfollow(_ id: SessionID) {
        state.withLock { state in
            guard state.followers.removeValue(forKey: id) != nil else { return }
            var request = RedisRequest("SUNSUBSCRIBE", .text(keys.session(id)))
            // The next connection subscribes to those that are followed then.
            request.isRepeatable = false
            _ = state.connection?.append(request, isBounded: false) { _ in }
        }
    }

    func close() async {
        let connection = state.withLock { state in
            state.isClosed = true
            state.followers = [:]
            return state.connection
        }
        connection?.close()
        await connection?.waitForEnd()
    }

    deinit { state.withLock(\.connection)?.close() }

    // MARK: On the connection's thread

    func connected() {
        // The connection may be quicker than the method that makes it.
        let (ids, connection) = state.withLock { (Array($0.followers.keys), $0.connection) }
        guard let connection else { return }
        for start in stride(from: 0, to: ids.count, by: Self.most) {
            subscribe(Array(ids[start..<min(start + Self.most, ids.count)]), connection)
        }
    }

    func told(_ channel: [UInt8]) {
        guard let id = keys.session(ofChannel: channel) else { return }
        state.withLock { $0.followers[id] }?()
    }

    /// Tells the followers as soon as no change can be missed any more: one may have been missed before.
    private func subscribe(_ ids: [SessionID], _ connection: RedisConnection) {
        var request = RedisRequest()
        request.isRepeatable = false
        for id in ids { request.add("SSUBSCRIBE", .text(keys.session(id))) }
        _ = connection.append(request, isBounded: false) { [weak self] outcome in
            guard case .replies = outcome else { return }
            for id in ids { self?.state.withLock { $0.followers[id] }?() }
        }
    }

    private static let most = 1_000
}
