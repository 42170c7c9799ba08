import Sessions
import Synchronization

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
