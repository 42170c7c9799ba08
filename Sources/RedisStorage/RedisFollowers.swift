import Sessions
import Synchronization

/// Subscribers to session changes. The first one opens the connections.
final class RedisFollowers: Sendable {
    private let followers = Mutex<[SessionID: @Sendable () -> Void]>([:])
    private let keys: RedisKeys
    private let router: RedisRouter

    init(_ keys: RedisKeys, on router: RedisRouter) { (self.keys, self.router) = (keys, router) }

    func follow(_ id: SessionID, _ changed: @escaping @Sendable () -> Void) {
        followers.withLock { $0[id] = changed }
        subscribe([id])
    }

    func unfollow(_ id: SessionID) {
        guard followers.withLock({ $0.removeValue(forKey: id) }) != nil else { return }
        let request = RedisRequest.unsubscribe(Array(keys.session(id).utf8))
        _ = router.append(request, on: .events, isBounded: false) { _ in }
    }

    // MARK: On threads of connections

    /// Subscribes again.
    func subscribe(_ concerns: (String) -> Bool) {
        let ids = followers.withLock { Array($0.keys) }.filter { concerns(keys.session($0)) }
        if !ids.isEmpty { subscribe(ids) }
    }

    func told(_ channel: [UInt8], isMoved: Bool) {
        guard let id = keys.session(ofChannel: channel), let follower = followers.withLock({ $0[id] }) else { return }
        if isMoved { subscribe([id]) } else { follower() }
    }

    /// Tells the followers as soon as no change can be missed any more: one may have been missed before.
    private func subscribe(_ ids: [SessionID]) {
        var request = RedisRequest()
        // A new connection subscribes to all.
        request.isRepeatable = false
        for id in ids { request.add("SSUBSCRIBE", .text(keys.session(id))) }
        _ = router.append(request, on: .events, isBounded: false) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .replies: for id in ids { followers.withLock { $0[id] }?() }
            // A new connection subscribes again.
            case .lost: break
            // A cluster has served no slot in time. A connection that is refused ends this.
            case .failed: for id in ids where followers.withLock({ $0[id] != nil }) { subscribe([id]) }
            }
        }
    }
}
