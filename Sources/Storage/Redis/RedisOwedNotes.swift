import Sessions
import Synchronization

/// Changes of notes that Redis has not confirmed, the last one of each key. They are sent again on each new connection,
/// and some seconds after Redis has refused them. That does no harm: only a note's owner changes it.
///
/// Beyond ``most`` a change is sent once. Its note is gone when its time is over.
final class RedisOwedNotes: Sendable {
    private struct State {
        var changes: [SHA256Digest: (number: UInt64, request: RedisRequest)] = [:]
        var next: UInt64 = 0
        weak var router: RedisRouter?
    }

    private let state = Mutex(State())

    var count: Int { state.withLock(\.changes.count) }

    func start(on router: RedisRouter) { state.withLock { $0.router = router } }

    func add(_ request: RedisRequest, of key: SHA256Digest) {
        let number = state.withLock { state in
            state.next += 1
            if state.changes.count < Self.most || state.changes[key] != nil {
                state.changes[key] = (state.next, request)
            }
            return state.next
        }
        send(request, number, key)
    }

    /// - Parameter concerns: whether the key is among those to send.
    func sendAgain(_ concerns: (SHA256Digest) -> Bool) {
        // With new numbers, so that the attempts of former connections end.
        let again = state.withLock { state in
            state.changes.filter { concerns($0.key) }.map { key, change in
                state.next += 1
                state.changes[key] = (state.next, change.request)
                return (change.request, state.next, key)
            }
        }
        for (request, number, key) in again { send(request, number, key) }
    }

    private func send(_ request: RedisRequest, _ number: UInt64, _ key: SHA256Digest) {
        let router = state.withLock(\.router)
        _ = router?.append(request, isBounded: false) { [weak self] outcome in
            switch outcome {
            case .replies(let replies) where replies[0].error == nil:
                self?.state.withLock { state in
                    if state.changes[key]?.number == number { state.changes[key] = nil }
                }
            case .lost: break
            case .replies, .failed:
                Task { [weak self] in
                    try? await Task.sleep(for: Self.pause)
                    guard let self, state.withLock({ $0.changes[key]?.number }) == number else { return }
                    send(request, number, key)
                }
            }
        }
    }

    private static let most = 10_000
    private static let pause = Duration.seconds(2)
}
