import Synchronization

/// Lets one task at a time attach a session to a user, so that none counts sessions while another adds one.
final class UserTurns: Sendable {
    /// The users whose turn is taken, and who waits for it, in order.
    private let waiting = Mutex<[String: [UnsafeContinuation<Void, Never>]]>([:])

    /// Waits for the user's turn. ``pass(_:)`` must follow.
    func take(_ user: String) async {
        await withUnsafeContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[user] == nil else {
                    waiting[user]?.append(continuation)
                    return false
                }
                waiting[user] = []
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func pass(_ user: String) {
        let next = waiting.withLock { waiting -> UnsafeContinuation<Void, Never>? in
            guard let first = waiting[user]?.first else {
                waiting[user] = nil
                return nil
            }
            waiting[user]?.removeFirst()
            return first
        }
        next?.resume()
    }

    var isEmpty: Bool { waiting.withLock(\.isEmpty) }
}
