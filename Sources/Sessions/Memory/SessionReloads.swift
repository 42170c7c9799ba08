import Synchronization

/// Callers that wait until a session in memory is as it is in the store. One of them loads it, for all that have come
/// before the load begins; those that come later need a later load.
final class SessionReloads: Sendable {
    enum Outcome: Sendable {
        case done
        case failed(SessionError)
        /// The load has begun before: ask again.
        case missed
    }

    /// Who waits besides the one that will load it.
    private let waiting = Mutex<[ObjectIdentifier: [UnsafeContinuation<Outcome, Never>]]>([:])

    /// Whether the caller is the one to load the session. It has to call ``take(_:)`` when it begins.
    func claim(_ session: Session) -> Bool {
        waiting.withLock { waiting in
            guard waiting[ObjectIdentifier(session)] == nil else { return false }
            waiting[ObjectIdentifier(session)] = []
            return true
        }
    }

    func wait(for session: Session) async -> Outcome {
        await withUnsafeContinuation { continuation in
            let isLate = waiting.withLock { waiting in
                waiting[ObjectIdentifier(session)]?.append(continuation) == nil
            }
            if isLate { continuation.resume(returning: .missed) }
        }
    }

    /// Those that the load is for as well.
    func take(_ session: Session) -> [UnsafeContinuation<Outcome, Never>] {
        waiting.withLock { $0.removeValue(forKey: ObjectIdentifier(session)) ?? [] }
    }
}
