import Sessions
import Synchronization

/// Subscribers to session changes. The first one opens the connections.
final class RedisFollowers: Sendable {
    private struct State {
        var followers: [SessionID: @Sendable () -> Void] = [:]
        weak var router: RedisRouter?
    }

    private let state = Mutex(State())
    private let keys: RedisKeys

    init(_ keys: RedisKeys) { self.keys = keys }

    func start(on router: RedisRouter) { state.withLock { $0.router = router } }

    func follow(_ id: SessionID, _ changed: @escaping @Sendable () -> Void) {
        state.withLock { $0.followers[id] = changed }
        subscribe([id])
    }

    func unfollow(_ id: SessionID) {
        let (known, router) = state.withLock { ($0.followers.removeValue(forKey: id), $0.router) }
        guard known != nil else { return }
        let request = RedisRequest.unsubscribe(Array(keys.session(id).utf8))
        _ = router?.append(request, on: .events, isBounded: false) { _ in }
    }

    // MARK: On threads of connections

    /// Subscribes again.
    func connected(_ concerns: (String) -> Bool) {
        let ids = state.withLock { Array($0.followers.keys) }.filter { concerns(keys.session($0)) }
        for start in stride(from: 0, to: ids.count, by: Self.most) {
            subscribe(Array(ids[start..<min(start + Self.most, ids.count)]))
        }
    }

    func told(_ channel: [UInt8], isMoved: Bool) {
        guard let id = keys.session(ofChannel: channel), let follower = state.withLock({ $0.followers[id] })
        else { return }
        if isMoved { subscribe([id]) } else { follower() }
    }

    /// Tells the followers as soon as no change can be missed any more: one may have been missed before.
    private func subscribe(_ ids: [SessionID]) {
        guard !ids.isEmpty else { return }
        var request = RedisRequest()
        // A new connection subscribes to all.
        request.isRepeatable = false
        for id in ids { request.add("SSUBSCRIBE", .text(keys.session(id))) }
        _ = state.withLock(\.router)?.append(request, on: .events, isBounded: false) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .replies: for id in ids { state.withLock { $0.followers[id] }?() }
            // A new connection subscribes again.
            case .lost: break
            // A cluster has served no slot in time. A connection that is refused ends this.
            case .failed: for id in ids where state.withLock({ $0.followers[id] != nil }) { subscribe([id]) }
            }
        }
    }

    private static let most = 1_000
}
